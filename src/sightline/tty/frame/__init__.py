"""From components to frames, and from frames to bytes."""
