"""From raw samples to a machine model: NumPy and SciPy only, no device and no files."""
