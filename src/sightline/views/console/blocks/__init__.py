"""The transcript: what each entry of it looks like."""
