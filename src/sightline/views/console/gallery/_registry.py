"""All scenes, in the order they are shown, and how one is found by its name."""

from collections.abc import Sequence

from sightline.exceptions import UserMistake
from sightline.views.console.gallery._scene import Scene
from sightline.views.console.gallery.scenes import SCENES

_BY_NAME = {scene.name: scene for scene in SCENES}


def names() -> list[str]:
    return list(_BY_NAME)


def find(wanted: Sequence[str]) -> list[Scene]:
    """The scenes of these names, or all. A name that is none is the user's mistake."""
    return [_find(name) for name in wanted] or list(SCENES)


def _find(wanted: str) -> Scene:
    """By its name, or by a beginning that no other has; capitals do not matter."""
    name = wanted.casefold()
    begun = [known for known in _BY_NAME if known == name] or [known for known in _BY_NAME if known.startswith(name)]
    if len(begun) == 1:
        return _BY_NAME[begun[0]]
    from difflib import get_close_matches

    near = (name and begun) or get_close_matches(name, _BY_NAME, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "see `sightline gallery --list`"
    raise UserMistake(f"no scene of that name: {wanted}", hint)


__all__ = ["SCENES", "find", "names"]
