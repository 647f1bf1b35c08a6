"""The terminal engine: rows into a terminal's own scrollback, each exactly once. Knows nothing of agents."""

from __future__ import annotations

from sightline._later import later

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from sightline.tty._application import Application, run_application
    from sightline.tty._bindings import Bindings
    from sightline.tty._capabilities import Capabilities, ImageProtocol, detect
    from sightline.tty._colour import Depth
    from sightline.tty._component import CURSOR, Component, Input, Rows, Scrollback
    from sightline.tty._decoder import Decoder
    from sightline.tty._display import Display, Surface
    from sightline.tty._images import ImageRow, Images
    from sightline.tty._keys import Key, Paste, matches
    from sightline.tty._linear import LinearDisplay
    from sightline.tty._link import link
    from sightline.tty._overlays import Anchor, Overlay, OverlayHandle, composite
    from sightline.tty._raw import Attributes
    from sightline.tty._terminal import Terminal
    from sightline.tty._theme import PLAIN, Theme, on_background, theme_for
    from sightline.tty._themes import LOOKS
    from sightline.tty._width import expand_tabs, graphemes, measure, pad, slice_columns, truncate, wrap

__all__ = [
    "CURSOR",
    "LOOKS",
    "PLAIN",
    "Anchor",
    "Application",
    "Attributes",
    "Bindings",
    "Capabilities",
    "Component",
    "Decoder",
    "Depth",
    "Display",
    "ImageProtocol",
    "ImageRow",
    "Images",
    "Input",
    "Key",
    "LinearDisplay",
    "Overlay",
    "OverlayHandle",
    "Paste",
    "Rows",
    "Scrollback",
    "Surface",
    "Terminal",
    "Theme",
    "composite",
    "detect",
    "expand_tabs",
    "graphemes",
    "link",
    "matches",
    "measure",
    "on_background",
    "pad",
    "run_application",
    "slice_columns",
    "theme_for",
    "truncate",
    "wrap",
]

# The first paint needs next to nothing of this: each is imported when asked for.
_LATER = {
    "Anchor": "_overlays",
    "Application": "_application",
    "Attributes": "_raw",
    "Bindings": "_bindings",
    "CURSOR": "_component",
    "Capabilities": "_capabilities",
    "Component": "_component",
    "Decoder": "_decoder",
    "Depth": "_colour",
    "Display": "_display",
    "ImageProtocol": "_capabilities",
    "ImageRow": "_images",
    "Images": "_images",
    "Input": "_component",
    "Key": "_keys",
    "LOOKS": "_themes",
    "LinearDisplay": "_linear",
    "Overlay": "_overlays",
    "OverlayHandle": "_overlays",
    "PLAIN": "_theme",
    "Paste": "_keys",
    "Rows": "_component",
    "Scrollback": "_component",
    "Surface": "_display",
    "Terminal": "_terminal",
    "Theme": "_theme",
    "composite": "_overlays",
    "detect": "_capabilities",
    "expand_tabs": "_width",
    "graphemes": "_width",
    "link": "_link",
    "matches": "_keys",
    "measure": "_width",
    "on_background": "_theme",
    "pad": "_width",
    "run_application": "_application",
    "slice_columns": "_width",
    "theme_for": "_theme",
    "truncate": "_width",
    "wrap": "_width",
}

__getattr__ = later(__name__, _LATER)


def __dir__() -> list[str]:
    """The public names, loaded or not: for completion and `help()`."""
    return __all__
