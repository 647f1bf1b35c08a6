"""Text."""

from collections.abc import Iterator

from sightline.tty.components import TextComponent
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_PROSE = (
    "A row is text, style and nothing else. Text that is longer than the row wraps at spaces, and where a word is "
    "longer than the row it is cut: Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz. "
    "日本語も折り返します。 Emoji are one: 👩‍👩‍👧 🇯🇵 👍🏽."
)
_OUTPUT = (
    "\x1b[1mBuilding\x1b[0m parser\n\x1b[32mok\x1b[0m 12 tests\n"
    "\x1b[31mfailed\x1b[0m 1 test \x1b]0;title\x07(a title stays out)"
)


@scene("text", "lines of text, wrapped or cut")
def states(stage: Stage) -> Iterator[SceneState]:
    theme = stage.theme
    yield SceneState("wrapped at spaces", TextComponent(_PROSE, theme=theme))
    yield SceneState("cut at the edge", TextComponent(_PROSE, wrap=False, theme=theme))
    yield SceneState("indented on both sides", TextComponent(_PROSE, padding_x=4, theme=theme))
    yield SceneState("in a role", TextComponent("could not read the file: permission denied", "error", theme=theme))
    yield SceneState("style that came with it stays, other sequences are not", TextComponent(_OUTPUT, theme=theme))
    yield SceneState("empty: no row at all", TextComponent("", theme=theme))
