"""The tree of a session's conversation: entries, moves, forks, and how it is listed."""
