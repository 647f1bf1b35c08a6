"""Helpers for tests only: a stand-in model server, the real CLIs at pinned versions, a neutral place for them."""
