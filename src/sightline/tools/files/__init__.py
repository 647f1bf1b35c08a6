"""Files as tools see them: paths, globs, walks, reading and atomic writing."""
