"""The gallery: every component in every state, to look at, to try, and printed for review.

Nothing is imported here: the first paint comes before it.
"""


def load() -> None:
    """Import what the browser needs."""
    import asyncio  # noqa: F401

    from sightline.tty.input import _listener  # noqa: F401
    from sightline.views.console.gallery import _browser  # noqa: F401
