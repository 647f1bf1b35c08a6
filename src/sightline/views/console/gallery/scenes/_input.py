"""Input."""

from collections.abc import Iterator

from sightline.tty.components import Input
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_KEYS = (("enter", "submit"), ("ctrl+a", "beginning"), ("ctrl+u", "delete to there"), ("ctrl+_", "undo"))


@scene("input", "one line to type")
def states(stage: Stage) -> Iterator[SceneState]:
    def field(text: str, prompt: str = "› ", placeholder: str = "", mask: str | None = None) -> Input:
        made = Input(prompt=prompt, placeholder=placeholder, mask=mask, bindings=stage.bindings, theme=stage.theme)
        made.set_text(text)
        made.on_submit = lambda entered: stage.report(f"entered: {entered}" if mask is None else "entered")
        return made

    yield SceneState(
        "empty, with a hint", field("", placeholder="a name for the session"), interactive=True, keys=_KEYS
    )
    yield SceneState("with text", field("naïve café 日本"), interactive=True, keys=_KEYS)
    yield SceneState("longer than the row: it scrolls", field("the end of this line is what can be seen " * 4))
    yield SceneState("masked", field("secret", prompt="token: ", mask="•"), interactive=True, keys=_KEYS)
