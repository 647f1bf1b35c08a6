"""The list of sessions and the search through them."""
