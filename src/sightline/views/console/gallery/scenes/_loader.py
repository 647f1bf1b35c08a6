"""Loaders."""

from collections.abc import Iterator

from sightline.tty.components import CancellableLoader, Loader
from sightline.views.console.gallery._scene import SceneState, Stage, scene


@scene("loader", "something is running")
def states(stage: Stage) -> Iterator[SceneState]:
    made = {"call_later": stage.call_later, "request_render": stage.request_render, "clock": stage.clock}
    loader = Loader("Reading the ledger", theme=stage.theme, **made)  # type: ignore[arg-type]
    loader.start()
    yield SceneState("turning", loader, live=stage.moving)
    silent = Loader(theme=stage.theme, **made)  # type: ignore[arg-type]
    silent.start()
    yield SceneState("without words", silent, live=stage.moving)
    yield SceneState("not begun", Loader("Waiting for its turn", theme=stage.theme, **made))  # type: ignore[arg-type]
    ended = CancellableLoader("Asking the model", theme=stage.theme, **made)  # type: ignore[arg-type]
    ended.start()
    yield SceneState("escape ends it", ended, live=stage.moving, interactive=True, keys=(("escape", "cancel"),))
    cancelled = CancellableLoader("Asking the model", theme=stage.theme, **made)  # type: ignore[arg-type]
    cancelled.signal.cancel()
    yield SceneState("cancelled", cancelled)
