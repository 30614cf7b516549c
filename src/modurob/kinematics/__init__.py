"""Arms as geometers see them: axes, tables, Jacobians and what they say, and the inverse of forward kinematics."""
