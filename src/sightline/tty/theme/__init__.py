"""Colours and weights, and the built-in themes."""
