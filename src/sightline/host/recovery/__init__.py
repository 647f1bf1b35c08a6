"""Sessions without a host: read from the journal, ended there, and read as text."""
