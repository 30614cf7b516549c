"""The checks of `modurob.motion.numbers`, with the error of arguments."""

from functools import partial

from modurob.errors import InputError
from modurob.motion import numbers as checks

numbers = partial(checks.numbers, error=InputError)
one_number = partial(checks.one_number, error=InputError)
one_positive = partial(checks.one_positive, error=InputError)
whole = partial(checks.whole, error=InputError)
