"""Drawing options of the console: the look, and how much of a block is shown."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.tty import Bindings, ImageStore, Theme
from sightline.views.console._actions import OWN

if TYPE_CHECKING:
    from sightline.views.console.extensions._renderers import Renderers


class DrawingOptions:
    """One for a console; components hold it for their whole life and read it whenever they draw."""

    def __init__(
        self,
        theme: Theme,
        images: ImageStore,
        bindings: Bindings,
        *,
        cwd: str = "",
        clock: Callable[[], float] = time.time,
        linear: bool = False,
        fetch: Callable[[str, Callable[[bytes | None], None]], None] | None = None,
    ) -> None:
        self.theme = theme
        self.images = images
        self.bindings = bindings
        self.cwd = cwd
        """The session's folder: paths below it are shown without it."""
        self.clock = clock
        self.linear = linear
        """Nothing moves and nothing is styled: for screen readers."""
        self.unfolded = False
        """Every block shows as much as it may."""
        self.reasoning = False
        """Reasoning of the model is shown."""
        self.agent = ""
        """Whose transcript is drawn: the path of a subagent; empty: the root's."""
        self.renderers: Renderers | None = None
        """Of extensions."""
        self.fetch = fetch
        """Reads an artifact of this session by its name, off the loop, and calls back on it; with None where there is
        none, or it is too large to be shown."""

    def way_to(self, action: str) -> str:
        """The key of one of the console's actions, in linear mode its command. Empty: it has no key."""
        if self.linear:
            return f"/{OWN[action].command}"
        return next(iter(self.bindings.keys(action)), "")
