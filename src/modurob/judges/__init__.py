"""Independent judges of a robot's model: Pinocchio and MuJoCo with the same robot."""

from modurob.judges.mujoco import MujocoTwin
from modurob.judges.pinocchio import PinocchioTwin
from modurob.judges.twin import JUDGES, Twin
from modurob.judges.verify import Report, Verdict, verify

__all__ = ["JUDGES", "MujocoTwin", "PinocchioTwin", "Report", "Twin", "Verdict", "verify"]
