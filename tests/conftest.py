import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("modurob", deadline=None, print_blob=True)
settings.load_profile("modurob")


@pytest.fixture
def rng() -> np.random.Generator:
    """One stream of random numbers a test, the same at every run."""
    return np.random.default_rng(20120509)
