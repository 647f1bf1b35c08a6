"""How many cells text takes, and how it is cut and wrapped."""
