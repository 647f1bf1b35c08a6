"""What `sightline gallery` does: walk through it, print it, or name what there is."""

import os
from collections.abc import Sequence
from typing import Literal

from sightline.tty import Depth, detect
from sightline.views.console.gallery._printed import Look, printed
from sightline.views.console.gallery._registry import SCENES, find

Mode = Literal["browse", "print", "list"]
_WIDTH = 80


def show(mode: Mode, wanted: Sequence[str], *, width: int | None, look: Look | None, depth: Depth | None) -> int:
    """The exit code. Without a terminal on both sides there is nobody to walk with: then it is printed."""
    from sightline.views.plain import write_all

    scenes = find(wanted)
    if mode == "list":
        longest = max(len(scene.name) for scene in SCENES)
        write_all(1, "".join(f"{scene.name:<{longest}}  {scene.about}\n" for scene in scenes).encode())
        return 0
    if mode == "browse" and os.isatty(0) and os.isatty(1):
        from sightline.views.console.gallery._session import browse

        return browse(first=scenes[0].name if wanted else "", look=look, depth=depth)
    guess = detect(os.environ)
    look = look or ("dark" if guess.dark else "light")
    depth = depth or (guess.colours if os.isatty(1) else None)
    rows = printed(scenes, width=width or _columns(), look=look, depth=depth)
    write_all(1, "".join(f"{row}\n" for row in rows).encode())
    return 0


def _columns() -> int:
    try:
        return os.get_terminal_size(1).columns or _WIDTH
    except OSError:
        return _WIDTH
