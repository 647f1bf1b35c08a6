"""From the terminal's bytes to keys and pasted text, and which keys do what."""
