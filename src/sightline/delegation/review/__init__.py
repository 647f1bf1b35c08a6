"""A review that the user requested: what the reviewer is given, and what came of it."""
