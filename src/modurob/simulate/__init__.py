"""Motion over time: steppers, recordings, docking while running, gaits."""
