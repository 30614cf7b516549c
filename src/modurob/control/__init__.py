"""Controllers and trajectories, for any robot."""
