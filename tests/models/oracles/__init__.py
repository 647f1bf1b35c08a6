"""The vendors' own SDKs as oracles: what they make of a recorded answer, we make of it too."""
