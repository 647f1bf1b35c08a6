"""Transcript."""

from collections.abc import Iterator

from sightline.tty.components import Loader, Text, Transcript
from sightline.views.console.gallery._scene import Scene, Stage, State

_PACE = 0.4


def _growing(stage: Stage) -> Transcript:
    transcript = Transcript(gap=0)

    def more(number: int) -> None:
        if number > 30:
            stage.finish(transcript)
            return
        transcript.append(Text(f"{number}. final, and history as soon as it leaves the window", theme=stage.theme))
        stage.request_render(transcript)
        stage.call_later(_PACE, lambda: more(number + 1))

    stage.call_later(_PACE, lambda: more(1))
    return transcript


def _states(stage: Stage) -> Iterator[State]:
    theme = stage.theme
    frozen = Transcript()
    for words in ("A block that is finished is frozen.", "So is this one: both may become history."):
        frozen.append(Text(words, theme=theme))
    yield State("frozen blocks, a blank row between them", frozen)
    mixed = Transcript()
    mixed.append(Text("Finished.", theme=theme))
    going_on = Loader(
        "still running",
        call_later=stage.call_later,
        request_render=stage.request_render,
        clock=stage.clock,
        theme=theme,
    )
    going_on.start()
    mixed.append(going_on, live=True)
    mixed.append(Text("Finished too, but it waits for the one above it.", "muted", theme=theme))
    yield State("a live block holds back what follows it", mixed, live=stage.moving)
    if stage.moving:
        yield State("growing", _growing(stage), live=True)


SCENE = Scene("transcript", "blocks that become history, each row once", _states)
