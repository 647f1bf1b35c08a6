"""The gallery on paper: what it looks like, in which colours, how wide; and what it says to mistakes."""

import re
import subprocess

import pytest

from sightline.testing.emulators import open_emulator
from sightline.tty import measure
from sightline.views.console.gallery._command import find
from sightline.views.console.gallery._printed import printed
from sightline.views.console.gallery.scenes import SCENES
from tests.cli.support import SIGHTLINE, InTerminal, sightline
from tests.views.console.snapshot import FILE, snapshot

NAMES = [scene.name for scene in SCENES]
ALLOWED = re.compile(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)")


def test_nothing_looks_other_than_it_did():
    """Whoever means a change looks at the difference and runs `python -m tests.views.console.snapshot`."""
    assert snapshot().splitlines() == FILE.read_text().splitlines()


@pytest.mark.parametrize("width", [1, 2, 3, 10, 40, 79, 200])
@pytest.mark.parametrize("depth", [None, "none", "16", "256", "true"])
def test_every_row_fits_and_holds_style_only(width, depth):
    """At any width, in any number of colours."""
    for look in ("dark", "light"):
        for row in printed(SCENES, width=width, look=look, depth=depth):
            assert measure(row) <= max(width, 2), row  # a wide character needs its two cells
            assert "\x1b" not in ALLOWED.sub("", row)


@pytest.mark.parametrize("depth", ["none", "16", "256", "true"])
def test_a_theme_has_only_the_colours_there_are(depth):
    """But in the scene that shows the themes themselves, and where text brought colours of its own."""
    scenes = [scene for scene in SCENES if scene.name not in ("theme", "text")]
    codes = {
        code
        for row in printed(scenes, width=80, look="dark", depth=depth)
        for code in re.findall(r"\x1b\[([0-9;:]*)m", row)
    }
    kinds = {
        "true": any("38;2" in code for code in codes),
        "256": any("38;5" in code for code in codes),
        "16": any(re.fullmatch(r"(?:[1-9];)*3[0-7]", code) for code in codes),
    }
    assert [name for name, found in kinds.items() if found] == ([] if depth == "none" else [depth])


def test_two_printings_are_the_same():
    """Nothing on paper depends on time or chance."""
    assert snapshot() == snapshot()


def test_into_a_pipe_it_is_plain(own_home):
    """No escape at all; everything is there without being asked for."""
    done = sightline("gallery")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    for name in NAMES:
        assert f"## {name}: ".encode() in done.stdout


def test_scenes_widths_and_colours_can_be_chosen(own_home):
    """Only those named, in that width; colours also into a pipe when asked for."""
    done = sightline("gallery", "--print", "box", "tabs", "--width", "40", "--theme", "light", "--colours", "16")
    rows = done.stdout.decode().splitlines()
    assert [ALLOWED.sub("", row).split(":")[0] for row in rows if "##" in row] == ["## box", "## tabs"]
    assert max(measure(row) for row in rows) == 40
    assert "\x1b[1;34m" in done.stdout.decode(), "the light theme's blue"


def test_the_list_names_every_scene(own_home):
    """One line each, the name first."""
    done = sightline("gallery", "--list")
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == NAMES


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (["--print", "tabz"], "no scene of that name: tabz", "did you mean tabs"),
        (["--print", "qqqq"], "no scene of that name: qqqq", "sightline gallery --list"),
        (
            ["--print", "t"],
            "no scene of that name: t",
            "did you mean text or table or tree or tabs or transcript or theme",
        ),
        (["--print", "--", "\x1b[31mx"], "no scene of that name", "sightline gallery --list"),
        (["--print", "--width", "0"], "not a number from 1 to 1000: 0", "--help"),
        (["--print", "--list"], "not allowed with argument", "--help"),
        (["--colours", "all"], "invalid choice: 'all'", ""),
    ],
)
def test_a_mistake_is_said_in_a_line(own_home, arguments, says, hint):
    """With what to do about it; exit code 2."""
    done = sightline("gallery", *arguments)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert hint in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(own_home):
    """`| head` ends it, quietly."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" gallery --print | head -n 1', SIGHTLINE], capture_output=True, timeout=60
    )
    assert done.stderr == b""
    assert done.stdout.startswith(b"## text")


def test_an_emulator_shows_what_was_printed():
    """Row for row, in a real terminal of that width: none wraps, none is cut."""
    rows = list(printed(SCENES, width=80, look="dark", depth="true"))
    emulator = open_emulator("xterm", 80, 24)
    try:
        shown = emulator.feed("".join(f"{row}\r\n" for row in rows)).text
    finally:
        emulator.close()
    assert shown == [ALLOWED.sub("", row).rstrip() for row in rows]


@pytest.mark.parametrize("environment", ["TERM=dumb", "SIGHTLINE_LINEAR=1"])
def test_on_lines_it_can_be_walked_through_too(own_home, environment):
    """A name shows a scene, nothing the next one, q leaves; not one escape is written."""
    terminal = InTerminal("gallery", through=("env", environment))
    try:
        terminal.wait_for("every component in every state.", "> ")
        terminal.press(b"box\n")
        terminal.wait_for("## box", "╭─ outside")
        terminal.press(b"\n")
        terminal.wait_for("## markdown", "### The end")
        terminal.press(b"?\n")
        terminal.wait_for("the next scene")
        terminal.press(b"q\n")
        assert terminal.wait() == 0
        assert b"\x1b" not in terminal.output
        assert terminal.text.count("╭─ outside") == 1
        assert "## code" not in terminal.text, "a question mark is no enter"
    finally:
        terminal.end()


def test_the_beginning_of_a_name_is_enough(own_home):
    """Where it is no other's; capitals do not matter, and a whole name is never another's beginning."""
    assert [scene.name for scene in find(["mark", "TaBs", "Ed"])] == ["markdown", "tabs", "editor"]


def test_captions_are_wrapped_not_cut():
    """Whatever is said above a state can be read at any width."""
    rows = list(printed(find(["markdown"]), width=20, look="dark", depth=None))
    assert rows[:2] == ["## markdown: what a", "model writes, while"]
    assert "· cut in the middle" in rows


def test_without_colours_the_roles_are_named_once():
    """The same list eight times says nothing."""
    for depth, times in ((None, 1), ("none", 1), ("16", 7)):
        text = "\n".join(printed(find(["theme"]), width=80, look="dark", depth=depth))
        assert text.count("image_fallback") == times
