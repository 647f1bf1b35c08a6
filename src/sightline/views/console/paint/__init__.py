"""The first screen, painted before the program is loaded."""
