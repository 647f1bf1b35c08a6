"""Sessions that are killed outright, at random moments, and then resumed: nothing that was shown may be lost."""
