"""The interactive terminal. Nothing is imported here before it is used: the first paint must not pay for the rest."""

TYPE_CHECKING = False  # `typing` itself would cost what the first paint saves
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from sightline.tty import Depth
    from sightline.views.console.gallery._command import Mode
    from sightline.views.console.gallery._printed import Look

__all__ = ["open_console", "open_gallery", "show_gallery"]


def open_console(
    options: "Mapping[str, Any] | Callable[[], Mapping[str, Any]]", *, provider: str = "", prompt: str = ""
) -> int | None:
    """Paint the console at once, start a host as wanted, and go on from there, with `prompt` said first. The exit code;
    None where there is nothing to paint on. `wanted` may be a call that finds it out while the paint is looked at."""
    from sightline.views.console.paint._console_paint import open_console

    return open_console(options, provider=provider, prompt=prompt)


def open_gallery() -> int | None:
    """Paint the gallery at once, and go on from there. The exit code; None where there is nothing to paint on."""
    from sightline.views.console.paint._gallery_paint import open_gallery

    return open_gallery()


def show_gallery(
    mode: "Mode", names: "Sequence[str]", *, width: int | None, look: "Look | None", depth: "Depth | None"
) -> int:
    """Walk through the gallery, print it, or list what there is. The exit code."""
    from sightline.views.console.gallery._command import show

    return show(mode, names, width=width, look=look, depth=depth)
