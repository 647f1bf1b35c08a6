"""How the console looks: a greeting, help by topic, panels set apart, quiet keys, one clock, sizes as one says them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline import __version__
from sightline.events import RunStarted, State, ToolUse, User
from sightline.events.stamping import stamp
from sightline.transcript import Snapshot
from sightline.tty import measure, theme_for
from sightline.tty.components import KeyHints
from sightline.views.console._actions import COMMANDS
from sightline.views.console.input._empty import PLACEHOLDER
from sightline.views.console.paint._console_paint import HINTS
from sightline.views.console.status._facts import count
from sightline.views.console.transcript._page import HelpPage
from tests.views.console.blocks.support import drawing
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


async def test_a_new_conversation_begins_with_a_greeting(sat: Sitting, tmp_path: Path) -> None:
    """Name, version, folder, model, level and three things to try; the host's words when they come."""
    sat.console.frame(Snapshot())
    assert sat.rows.startswith(f"Sightline {__version__}\n{tmp_path}")
    sat.hears(State("model", "some-model"), State("approval", {"level": "auto"}))
    facts, _, tries = sat.rows.partition("Three things to try:\n")
    said = " ".join(facts.replace("·", "").split())
    assert said.startswith(f"Sightline {__version__} {tmp_path} some-model approval auto")
    assert [row.split()[0] for row in tries.split("\n")[:3]] == ["explain", "@FILE", "!git"]
    sat.hears(User("hello", source="person"))
    assert sat.rows.count("Three things to try") == 1


async def test_one_that_is_resumed_does_not(sat: Sitting) -> None:
    """What was said in it is what one looks for."""
    told = Sitting(Path(sat.console.cwd))
    told.hears(User("hello", source="person"))
    sat.console.frame(told.console.state)
    await told.close()
    assert "› hello" in sat.rows
    assert "Three things" not in sat.rows


async def test_help_lists_every_command_once_by_topic_in_columns(sat: Sitting) -> None:
    """What one enters on the left, what it does on the right, all of it below each other."""
    sat.hears(State("commands", [{"name": "greet", "about": "says hello"}]))
    await sat.console.run_command("help")
    rows = sat.rows.split("\n")
    named = [row.split()[0] for row in rows if row.startswith("  /")]
    assert sorted(named) == sorted([*(f"/{name}" for name in COMMANDS), "/greet"])
    assert {"Typing", "Conversation", "Sessions", "Model and permissions"} <= set(rows)
    columns = [row.index(COMMANDS[row.split()[0][1:]].about) for row in rows if row.startswith(("  /stop", "  /tree"))]
    assert len(columns) == 2
    assert len(set(columns)) == 1


@pytest.mark.parametrize("width", [8, 20, 40, 49, 50, 200])
def test_a_page_fits(width: int) -> None:
    """Where there is no room for columns, one below the other."""
    page = HelpPage([("Topic", [("/a [WORDS]", "what it does " * 8), ("x" * 40, "long")])], drawing())
    assert all(measure(row) <= width for row in page.render(width))
    assert "what it does" in " ".join(" ".join(page.render(width)).split())


def test_a_page_on_lines_is_pairs() -> None:
    """Who listens hears what it is, then what it does."""
    assert list(HelpPage([("Topic", [("/a", "does a")])], drawing(linear=True)).render(80)) == ["Topic", "/a: does a"]


def test_the_row_of_keys_says_nothing_the_placeholder_says() -> None:
    """And recedes: nothing in it is bold."""
    assert not [key for key, _ in HINTS if f"{key} " in PLACEHOLDER.replace("ask anything", "")]
    theme = theme_for(dark=True, depth="true")
    (row,) = KeyHints(HINTS, quiet=True, theme=theme).render(200)
    assert theme.open("key") not in row
    assert theme.open("dim") in row


async def test_panels_are_set_apart_where_there_is_room(sat: Sitting) -> None:
    """An empty row below what goes on, and below the todo list; on a low screen none is spent on that."""
    sat.hears(User("go", source="person"), RunStarted(), State("todo", [{"text": "one", "status": "in_progress"}]))
    rows = sat.rows.split("\n")
    working = next(at for at, row in enumerate(rows) if "escape stop" in row)
    todo = rows.index("todo 0/1")
    assert rows[working + 1] == ""
    assert todo == working + 2
    assert rows[todo + 1 : todo + 3] == ["  ◌ one", ""]
    sat.surface.size = (80, 20)
    assert sat.rows.split("\n")[working + 1] == "todo 0/1"


async def test_what_goes_on_has_the_clock_of_the_call_it_names(sat: Sitting) -> None:
    """Not that of all the work: the header of the call and this row say the same."""
    sat.hears(User("go", source="person"), RunStarted())
    use = ToolUse("c", "Bash", args={"command": "make"})
    stamp(use, 3, 1090.0)
    sat.console.frame([use])
    sat.console.drawing.clock = lambda: 1100.0
    assert "running Bash · 10 s" in "\n".join(sat.console.working.render(100))
    assert "◌ $ make  10 s" in sat.rows


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (950, "950"),
        (12_000, "12k"),
        (12_340, "12.3k"),
        (128_000, "128k"),
        (999_600, "1M"),
        (1_000_000, "1M"),
        (1_240_000, "1.2M"),
    ],
)
def test_sizes_are_said_as_one_says_them(number: int, words: str) -> None:
    """`1M`, not 1000k nor 1.0M."""
    assert count(number) == words
