"""Re-recording the repository's fixtures from the real CLIs: `python -m sightline.testing.captures`.

A recording is what a CLI wrote to stdout, byte for byte, and beside it a `.meta.json` that says how it was run, what
the model was scripted to say, and which of that can be found in the output. It is made in a box that has nothing of
the machine in it: the project is `/project`, the home `/home/dev`.
"""
