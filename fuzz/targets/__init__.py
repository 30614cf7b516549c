"""What is fuzzed: a module each, with `inputs()` that are valid, `mutated(rng)` and `run(data)`."""
