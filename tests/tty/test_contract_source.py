"""What must not be in the source: tui-core-renderer.md §2, §3.1, §3.4, §5, §9; runtime internals: boundary rule."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import sightline.testing.fidelity
import sightline.tty

TTY = Path(sightline.tty.__file__).parent
FIDELITY = Path(sightline.testing.fidelity.__file__).parent
REFERENCE = Path(__file__).parents[2] / "docs" / "internals" / "terminal.md"
UPDATE_PATH = ("_composer", "_display", "_ledger", "_overlays", "_painter", "_reflow", "_rows", "_scheduler")


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(TTY.rglob("*.py")):
        yield path.relative_to(TTY).as_posix(), ast.parse(path.read_text())


def texts(tree: ast.Module) -> Iterator[str]:
    """Text in the program, documentation left out."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_s2_s3_1_history_is_erased_in_one_place() -> None:
    """§2, §3.1: one text of the whole engine erases screen or scrollback or goes home; one function writes it."""
    clears = [(name, text) for name, tree in modules() for text in texts(tree) if re.search(r"\[[23]J|\[H", text)]
    assert clears == [("frame/_painter.py", "\x1b[2J\x1b[H\x1b[3J")]
    tree = dict(modules())["frame/_painter.py"]
    writers = {
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Name) and node.id == "CLEAR_EVERYTHING" for node in ast.walk(function))
    }
    assert writers == {"full"}


def test_s3_4_the_update_path_knows_no_platform_and_no_terminal() -> None:
    """§3.4: no platform, no terminal's name, and of what it can do only what changes no row of the tape."""
    for name, tree in modules():
        if name.removesuffix(".py") not in UPDATE_PATH:
            continue
        assert not imported(tree) & {"os", "sys", "platform", "termios"}, name
        asked = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and (
                (isinstance(node.value, ast.Attribute) and node.value.attr == "capabilities")
                or (isinstance(node.value, ast.Name) and node.value.id == "capabilities")
            )
        }
        pictures = {"images", "cell_size", "kitty_placeholders"}
        assert asked <= {"multiplexer", "synchronized_output", "hardware_cursor", "redraw_log"} | pictures, name


def test_s5_there_is_one_model_of_width() -> None:
    """§5: only one module of the engine has tables of widths; all others measure through it."""
    tables = {name for name, tree in modules() if any(module.startswith("wcwidth") for module in imported(tree))}
    assert tables <= {"cells/_cells.py"}
    for name, tree in modules():
        called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not called & {"east_asian_width", "wcswidth", "wcwidth"} or name == "cells/_cells.py", name


def test_runtime_layers_the_engine_knows_nothing_of_agents() -> None:
    """Boundary rule: the engine is message-agnostic: of the program it imports only how text is made safe,
    and how a name is loaded when it is asked for."""
    for name, tree in modules():
        ours = {module for module in imported(tree) if module.startswith("sightline")}
        allowed = ("sightline.text", "sightline.tty", "sightline._later")
        assert all(module.startswith(allowed) for module in ours), (name, ours)


def test_s6_the_shadow_shares_nothing_with_the_engine() -> None:
    """§6: the ledger that checks is an independent one: nothing it is made of imports the engine."""
    seen, waiting = set(), ["_shadow"]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        modules = imported(ast.parse((FIDELITY / f"{name}.py").read_text()))
        assert not any(module.startswith("sightline.tty") for module in modules), name
        inside = {module.rpartition(".")[2] for module in modules if module.startswith("sightline.testing.fidelity._")}
        waiting += inside - seen
    assert seen > {"_shadow", "_grid"}


def test_s9_the_switches_are_those_of_the_reference() -> None:
    """§9: every SIGHTLINE_ variable the engine reads is in the reference, and the reference names no other."""
    read = {word for _, tree in modules() for text in texts(tree) for word in re.findall(r"SIGHTLINE_[A-Z_]+", text)}
    named = set(re.findall(r"SIGHTLINE_[A-Z_]+", REFERENCE.read_text()))
    assert read == named


def test_s9_switches_of_older_engines_do_not_exist() -> None:
    """§9: nothing decides whether history may be erased, a shrink cleared, or a frame dumped."""
    words = " ".join(text for _, tree in modules() for text in texts(tree))
    assert not re.search("ED3_SAFE|CLEAR_ON_SHRINK|TUI_DEBUG|NO_DECCARA", words)
