"""The agent's loop: a run, its turns and calls, and what waits for them."""
