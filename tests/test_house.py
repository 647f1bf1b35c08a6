"""Rules about the source as a whole: one name, one meaning; no crowded room; types and plain words."""

import ast
import importlib.util
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sightline"
MODULES_IN_A_ROOM = 18
# Rooms that are lists of like things: one module each, found by its name.
LISTS = {"tty/components", "views/console/gallery/scenes", "views/console/selectors", "views/console/shapes"}


# Words we once had for everything. A few are right where they stand (a page says, a user is asked): this many at most.
DIALECT = re.compile(
    r"(?<![a-z])(tells?|told|telling|retell\w*|said|says?|unsaid|kept|keeps?|g(?:o|oes|one|oing) on|wanted|wants|asked"
    r"|somebody|nobody|anybody|whoever|made short|lets? go|g(?:ive|ives|iven) back|hand(?:s|ed)? on"
    r"|mend\w*|the person)(?![a-z])"
)
DIALECT_AT_MOST = 330  # of 6,371 before
ANY_AT_MOST = 320  # of 1,432 before


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


def _words(path: Path) -> str:
    """Names, comments and texts of a module, in small letters, with blanks between the words of a name."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.NAME:
            found.append(re.sub(r"([a-z])([A-Z])", r"\1 \2", token.string).replace("_", " "))
        elif token.type in (tokenize.COMMENT, tokenize.STRING):
            found.append(token.string)
    return "\n".join(found).lower()


def test_words_are_plain() -> None:
    """Publish, stored, resume, the user: what every engineer says. CONTRIBUTING has the glossary."""
    places = {str(path.relative_to(SOURCE)): len(DIALECT.findall(_words(path))) for path in _modules()}
    most = sorted(places, key=lambda place: -places[place])[:5]
    assert sum(places.values()) <= DIALECT_AT_MOST, f"most of them in {', '.join(most)}"


def test_values_have_types() -> None:
    """What comes from outside is `object` until a guard has looked at it."""
    mentions = sum(len(re.findall(r"\bAny\b", path.read_text())) for path in _modules())
    assert mentions <= ANY_AT_MOST


def test_programs_in_strings_import_what_there_is() -> None:
    """Benches and tests start small programs that no type checker reads: a rename has to reach them too."""
    missing = []
    for folder in ("bench", "tests", "tools", "src/sightline"):
        for path in sorted((SOURCE.parents[1] / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    for module, names in re.findall(r"from (sightline[\w.]*) import ([\w, ]+)", node.value):
                        missing += [f"{path}:{node.lineno}: {module}.{name}" for name in _missing(module, names)]
    assert not missing


def _missing(module: str, names: str) -> list[str]:
    room = importlib.import_module(module)
    found = []
    for name in (part.split(" as ")[0].strip() for part in names.split(",")):
        if name and not hasattr(room, name) and importlib.util.find_spec(f"{module}.{name}") is None:
            found.append(name)
    return found
