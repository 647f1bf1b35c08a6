"""Our own agent in a process of its own, so that it can be started in a working copy: the program, and its channel."""
