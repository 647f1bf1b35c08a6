"""Lists to choose from: one module for each, with `open(desk, args)`, loaded when it is used."""
