"""Permission rules: their language, what a command line runs, and what they decide."""
