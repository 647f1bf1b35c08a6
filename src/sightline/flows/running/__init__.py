"""A flow that runs: attempts at steps, their events, and how they end."""
