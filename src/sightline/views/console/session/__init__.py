"""The session on the screen: how it is found, connected to, and left."""
