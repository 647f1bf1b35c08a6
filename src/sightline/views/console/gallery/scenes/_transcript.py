"""Transcript."""

from collections.abc import Iterator

from sightline.tty.components import BlockColumn, Loader, TextComponent
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_PACE = 0.4


def _growing(stage: Stage) -> BlockColumn:
    transcript = BlockColumn(gap=0)

    def more(number: int) -> None:
        if number > 30:
            stage.finish(transcript)
            return
        transcript.append(
            TextComponent(f"{number}. final, and history as soon as it leaves the window", theme=stage.theme)
        )
        stage.request_render(transcript)
        stage.call_later(_PACE, lambda: more(number + 1))

    stage.call_later(_PACE, lambda: more(1))
    return transcript


@scene("transcript", "blocks that become history, each row once")
def states(stage: Stage) -> Iterator[SceneState]:
    theme = stage.theme
    frozen = BlockColumn()
    for words in ("A block that is finished is frozen.", "So is this one: both may become history."):
        frozen.append(TextComponent(words, theme=theme))
    yield SceneState("frozen blocks, a blank row between them", frozen)
    mixed = BlockColumn()
    mixed.append(TextComponent("Finished.", theme=theme))
    running = Loader(
        "still running",
        call_later=stage.call_later,
        request_render=stage.request_render,
        clock=stage.clock,
        theme=theme,
    )
    running.start()
    mixed.append(running, live=True)
    mixed.append(TextComponent("Finished too, but it waits for the one above it.", "muted", theme=theme))
    yield SceneState("a live block holds back what follows it", mixed, live=stage.moving)
    if stage.moving:
        yield SceneState("growing", _growing(stage), live=True)
