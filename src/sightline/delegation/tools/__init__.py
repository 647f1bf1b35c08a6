"""The tools by which agents delegate, hand back what they did, and write to each other."""
