"""The rows of a call's output: counted, interpreted, searched, and sent."""
