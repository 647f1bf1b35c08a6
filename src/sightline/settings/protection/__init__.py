"""The protected set: files that decide about Sightline, or run by themselves."""
