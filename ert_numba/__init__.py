"""Microbenchmarks of a machine: what its roofline is."""
