"""Internal addresses."""
