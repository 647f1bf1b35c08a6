"""The console as a person uses it: keys in, a screen read."""
