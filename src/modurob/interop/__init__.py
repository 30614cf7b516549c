"""Other tools: robots rebuilt in Pinocchio and MuJoCo, and modurob's answers compared with theirs."""
