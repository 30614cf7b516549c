"""Programs on a GPU, from the same traces as the kernels of the CPU: one state in each thread."""
