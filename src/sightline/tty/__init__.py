"""The terminal engine: rows into a terminal's own scrollback, each exactly once. Knows nothing of agents."""

from __future__ import annotations as annotations

from sightline._later import later

TYPE_CHECKING = False
# The first paint needs next to nothing of this: each is imported on first use.
if TYPE_CHECKING:
    from sightline.tty._application import Application as Application
    from sightline.tty._application import run_application as run_application
    from sightline.tty._component import CURSOR as CURSOR
    from sightline.tty._component import CachedComponent as CachedComponent
    from sightline.tty._component import Component as Component
    from sightline.tty._component import Input as Input
    from sightline.tty._component import Rows as Rows
    from sightline.tty._component import Scrollback as Scrollback
    from sightline.tty._images import ImageRow as ImageRow
    from sightline.tty._images import ImageStore as ImageStore
    from sightline.tty._linear import LinearDisplay as LinearDisplay
    from sightline.tty.cells._link import link as link
    from sightline.tty.cells._width import expand_tabs as expand_tabs
    from sightline.tty.cells._width import graphemes as graphemes
    from sightline.tty.cells._width import measure as measure
    from sightline.tty.cells._width import pad as pad
    from sightline.tty.cells._width import slice_columns as slice_columns
    from sightline.tty.cells._width import truncate as truncate
    from sightline.tty.cells._width import wrap as wrap
    from sightline.tty.frame._display import Display as Display
    from sightline.tty.frame._display import Surface as Surface
    from sightline.tty.frame._overlays import Anchor as Anchor
    from sightline.tty.frame._overlays import Overlay as Overlay
    from sightline.tty.frame._overlays import OverlayHandle as OverlayHandle
    from sightline.tty.frame._overlays import composite as composite
    from sightline.tty.input._bindings import Bindings as Bindings
    from sightline.tty.input._decoder import Decoder as Decoder
    from sightline.tty.input._keys import Key as Key
    from sightline.tty.input._keys import Paste as Paste
    from sightline.tty.input._keys import matches as matches
    from sightline.tty.terminal._capabilities import Capabilities as Capabilities
    from sightline.tty.terminal._capabilities import ImageProtocol as ImageProtocol
    from sightline.tty.terminal._capabilities import detect as detect
    from sightline.tty.terminal._raw import Attributes as Attributes
    from sightline.tty.terminal._terminal import Terminal as Terminal
    from sightline.tty.theme._colour import Depth as Depth
    from sightline.tty.theme._theme import PLAIN as PLAIN
    from sightline.tty.theme._theme import Theme as Theme
    from sightline.tty.theme._theme import on_background as on_background
    from sightline.tty.theme._theme import theme_for as theme_for
    from sightline.tty.theme._themes import LOOKS as LOOKS

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
