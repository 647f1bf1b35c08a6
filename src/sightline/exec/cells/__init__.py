"""Python cells: code the user types, run in one process with a memory."""
