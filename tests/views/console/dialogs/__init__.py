"""Dialogs, as rows and keys."""
