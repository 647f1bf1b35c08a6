"""What the model reads: instructions, memory, summaries, and repair after a crash."""
