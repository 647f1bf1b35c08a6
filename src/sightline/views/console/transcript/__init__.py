"""The transcript on the screen: as blocks, and as spoken lines."""
