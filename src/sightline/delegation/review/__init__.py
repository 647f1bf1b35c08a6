"""A review of a change that the user asked for: what the reviewer is given, and what came of it."""
