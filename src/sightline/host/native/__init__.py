"""Our own agent in a session: its worker, runs without a screen, and what the user runs directly."""
