"""Judges that modurob did not write: Pinocchio and MuJoCo, holding the same robot."""

from modurob.judges.mujoco import MujocoTwin
from modurob.judges.pinocchio import PinocchioTwin
from modurob.judges.twin import JUDGES, Twin
from modurob.judges.verify import Report, Verdict, verify

__all__ = ["JUDGES", "MujocoTwin", "PinocchioTwin", "Report", "Twin", "Verdict", "verify"]
