"""Measurements behind the numbers we promise. Run alone on a machine: `make bench`."""
