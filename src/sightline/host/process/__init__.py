"""A host as a process of its own: how it is started, and what it is asked to be."""
