"""A robot and a run to look at."""

import pytest

import modurob as mr


@pytest.fixture(scope="session")
def crab():
    return mr.load("crab").mechanism(base="m0")


@pytest.fixture(scope="session")
def crab_run(crab):
    return mr.simulate(crab, [0.3, -0.2, 0.5], duration=0.2)
