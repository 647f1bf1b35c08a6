"""The command `sightline gallery`: browse the scenes, print them, or list their names."""

import os
from collections.abc import Sequence
from typing import Literal

from sightline.exceptions import UserMistake
from sightline.tty import Depth, detect
from sightline.views.console.gallery._printed import Look, printed
from sightline.views.console.gallery._scene import Scene
from sightline.views.console.gallery.scenes import SCENES

Mode = Literal["browse", "print", "list"]
_WIDTH = 80


def show(mode: Mode, names: Sequence[str], *, width: int | None, look: Look | None, depth: Depth | None) -> int:
    """Returns the exit code. Without a terminal on both sides the scenes are printed."""
    from sightline.views.plain import write_all

    scenes = find(names)
    if mode == "list":
        longest = max(len(scene.name) for scene in SCENES)
        write_all(1, "".join(f"{scene.name:<{longest}}  {scene.about}\n" for scene in scenes).encode())
        return 0
    if mode == "browse" and os.isatty(0) and os.isatty(1):
        from sightline.views.console.gallery._browser import browse

        return browse(first=scenes[0].name if names else "", look=look, depth=depth)
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


def find(names: Sequence[str]) -> list[Scene]:
    """The scenes of these names, or all. An unknown name is the user's mistake."""
    return [_find(name) for name in names] or list(SCENES)


def _find(requested: str) -> Scene:
    """By its name, or by a unique prefix of it, in any case."""
    name = requested.casefold()
    found = [scene for scene in SCENES if scene.name == name] or [
        scene for scene in SCENES if scene.name.startswith(name)
    ]
    if len(found) == 1:
        return found[0]
    from difflib import get_close_matches

    known = [scene.name for scene in SCENES]
    near = (name and [scene.name for scene in found]) or get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "see `sightline gallery --list`"
    raise UserMistake(f"no scene of that name: {requested}", hint)
