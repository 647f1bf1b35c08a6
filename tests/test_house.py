"""Rules about the source as a whole: one class name means one thing, and no room is too crowded to be seen into."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sightline"
MODULES_IN_A_ROOM = 18
# Rooms that are lists of like things: one module each, found by its name.
LISTS = {"tty/components", "views/console/gallery/scenes", "views/console/selectors", "views/console/shapes"}


def _modules() -> list[Path]:
    return [path for path in SOURCE.rglob("*.py") if "testing" not in path.relative_to(SOURCE).parts]


def test_a_public_class_name_means_one_thing() -> None:
    """A reader who searches for it finds one class."""
    places = defaultdict(list)
    for path in _modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_room_is_crowded() -> None:
    """A room with more modules than this has sub-rooms whose names are the map."""
    rooms = defaultdict(int)
    for path in _modules():
        if path.name != "__init__.py":
            rooms[path.parent.relative_to(SOURCE).as_posix()] += 1
    assert len(rooms) > 50
    crowded = {room for room, count in rooms.items() if count > MODULES_IN_A_ROOM}
    assert crowded <= LISTS


def test_components_keep_the_names_that_extension_files_use() -> None:
    """Some of them are another class's by now; files written before that still load."""
    from sightline.tty import components

    names = ("Text", "Image", "Transcript", "Input", "Item", "FileCompletion", "Cancel", "Tree", "Container")
    assert all(isinstance(getattr(components, name), type) for name in names)
