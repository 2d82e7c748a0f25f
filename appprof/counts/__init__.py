"""From a kernel's metrics to FLOP by precision, bytes by level and time, each with the names it came from. Pure."""
