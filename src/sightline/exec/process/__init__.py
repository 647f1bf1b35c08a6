"""Child processes: started, read, and ended with everything they started."""
