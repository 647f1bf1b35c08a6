"""The console. Nothing is imported here before it is used: the first paint must not wait for the rest."""

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
    """Paint the console at once, start a host with these options and run, with `prompt` sent first. Returns the exit
    code; None where there is no terminal to paint on. `options` may be a call that finds them out after the paint."""
    from sightline.views.console.paint._console_paint import open_console

    return open_console(options, provider=provider, prompt=prompt)


def open_gallery() -> int | None:
    """Paint the gallery at once, and run it. Returns the exit code; None where there is no terminal to paint on."""
    from sightline.views.console.paint._gallery_paint import open_gallery

    return open_gallery()


def show_gallery(
    mode: "Mode", names: "Sequence[str]", *, width: int | None, look: "Look | None", depth: "Depth | None"
) -> int:
    """Walk through the gallery, print it, or list its scenes. Returns the exit code."""
    from sightline.views.console.gallery._command import show

    return show(mode, names, width=width, look=look, depth=depth)
