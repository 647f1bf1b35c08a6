"""Flow files: read, checked, and their templates and conditions."""
