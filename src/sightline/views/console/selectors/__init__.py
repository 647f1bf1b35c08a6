"""What a person chooses from: one module for each, with `open(desk, args)`, loaded when it is asked for."""
