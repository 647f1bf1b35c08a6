"""A host as a process of its own: how it is started, and with which options."""
