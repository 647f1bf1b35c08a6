"""Another provider's agent in a session: its worker, its connection, and its events as ours."""
