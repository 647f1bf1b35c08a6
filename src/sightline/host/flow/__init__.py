"""A flow in a session: its steps are agents of the session's directory."""
