"""Arms as geometry: axes, tables, Jacobians and their properties, and inverse kinematics."""
