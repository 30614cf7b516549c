"""The names that users rely on, of sensors and filters."""

import modurob as mr
from modurob import estimation


def test_exported_names_exist_once():
    assert len(set(estimation.__all__)) == len(estimation.__all__)
    assert all(hasattr(estimation, name) for name in estimation.__all__)


def test_sensors_and_filters_are_at_the_top():
    for registry in (estimation.SENSORS, estimation.FILTERS):
        for thing in registry.values():
            assert getattr(mr, thing.__name__) is getattr(estimation, thing.__name__) is thing
