"""The host's half of extensions: loading, hooks, tools from functions, and their user interface."""
