"""The names that users rely on, of trajectories and gaits."""

import modurob as mr
from modurob import motion
from modurob.motion import gaits


def test_exported_names_exist_once():
    for room in (motion, gaits):
        assert len(set(room.__all__)) == len(room.__all__)
        assert all(hasattr(room, name) for name in room.__all__)


def test_what_users_need_is_at_the_top():
    assert (mr.Trajectory, mr.Gait, mr.gait) == (motion.Trajectory, motion.Gait, motion.gait)


def test_presets_and_generators_are_exported_by_their_classes():
    for registry in (gaits.PRESETS, gaits.GENERATORS):
        for thing in registry.values():
            assert getattr(gaits, thing.__name__) is thing
