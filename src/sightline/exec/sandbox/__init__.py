"""The sandbox for commands a model chose: bubblewrap, Landlock, environment, programs, protected files."""
