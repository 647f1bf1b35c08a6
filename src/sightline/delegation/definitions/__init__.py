"""Definitions of agents: what their files say, where they are found, and which come with the program."""
