"""Every component in every state: to look at, to try, and printed for review.

Nothing is imported here either: the first paint comes before it.
"""


def load() -> None:
    """Import what walking through the gallery needs, so that it is there when it is needed."""
    import asyncio  # noqa: F401

    from sightline.tty.input import _listener  # noqa: F401
    from sightline.views.console.gallery import _session  # noqa: F401
