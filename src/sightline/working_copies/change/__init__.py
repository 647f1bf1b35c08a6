"""What changed in a repository: which change is meant, its files and diff, and the lines around a place of it."""
