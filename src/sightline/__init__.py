"""Sightline: everything any agent, subagent or tool does, visible while it happens, in one form."""

__version__ = "0.1.0"

__all__ = ["Session", "__version__", "start"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.sdk import Session, start


def __getattr__(name: str) -> object:
    """`sightline.start` and `sightline.Session`, loaded when used: asking for the version loads nothing."""
    if name in ("Session", "start"):
        from sightline import sdk

        return getattr(sdk, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
