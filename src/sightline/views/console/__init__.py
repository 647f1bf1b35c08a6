"""The interactive terminal. Nothing is imported here: the first paint must not pay for what it does not need."""
