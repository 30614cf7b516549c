"""The library broken in small ways, one at a time, to see whether `reproduce` and the tests notice: `python -m mutants`."""
