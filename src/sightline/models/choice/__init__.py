"""Which models can be used here, by which names."""
