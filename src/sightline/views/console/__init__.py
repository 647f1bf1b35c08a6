"""The interactive terminal. Nothing is imported here before it is used: the first paint must not pay for the rest."""

TYPE_CHECKING = False  # `typing` itself would cost what the first paint saves
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.tty import Depth
    from sightline.views.console.gallery._command import Mode
    from sightline.views.console.gallery._printed import Look

__all__ = ["open_gallery", "show_gallery"]


def open_gallery() -> int | None:
    """Paint the gallery at once, and go on from there. The exit code; None where there is nothing to paint on."""
    from sightline.views.console._first_paint import can_paint, open_gallery

    return open_gallery() if can_paint() else None


def show_gallery(
    mode: "Mode", names: "Sequence[str]", *, width: int | None, look: "Look | None", depth: "Depth | None"
) -> int:
    """Walk through the gallery, print it, or list what there is. The exit code."""
    from sightline.views.console.gallery._command import show

    return show(mode, names, width=width, look=look, depth=depth)
