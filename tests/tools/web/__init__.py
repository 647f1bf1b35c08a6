"""Web pages for the read tool."""
