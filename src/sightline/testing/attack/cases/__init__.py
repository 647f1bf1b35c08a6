"""The attacks, a module for each area."""
