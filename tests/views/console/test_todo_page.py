"""`/todo`: the whole list with signs, as the panel and the calls show it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline.host import CommandReply, EditTodo
from sightline.text import clean_line
from sightline.tty import PLAIN, ImageStore, measure
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.commands._todo import TodoPage
from tests.views.console.sitting import Sitting

LIST = """# Build

- [x] Read the code
- [/] Write the tests
  > begin with the parser
  > then the printer

  > ask Ada
- [ ] Fix the bug

# Later

- [-] Rewrite it in another language, which would take far more time than anybody has
"""


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


def page(*, linear: bool = False) -> TodoPage:
    return TodoPage(LIST, DrawingOptions(PLAIN, ImageStore(), bindings_from({}), linear=linear))


async def test_the_list_is_shown_with_signs(sat: Sitting) -> None:
    """No raw marks; every task and every note."""
    sat.replies["EditTodo"] = CommandReply(True, data={"markdown": LIST})
    sat.writes("/todo")
    sat.press("enter")
    assert (await sat.sent(EditTodo)).markdown is None
    await sat.until(lambda: "✓ Read the code" in sat.rows)
    for row in ("Build", "◌ Write the tests", "  > then the printer", "  > ask Ada", "○ Fix the bug", "– Rewrite it"):
        assert row in sat.rows
    assert "[" not in sat.rows.partition("Build")[2].partition("Later")[0]


@pytest.mark.parametrize("width", [10, 20, 40, 80])
def test_long_tasks_are_wrapped_and_not_cut(width: int) -> None:
    """They go on below their beginning, where there is any room for words."""
    rows = page().render(width)
    assert all(measure(row) <= width for row in rows)
    words = " ".join(" ".join(clean_line(row) for row in rows).split())
    task = "Rewrite it in another language, which would take far more time than anybody has"
    assert task in words or width < 16
    assert page().source == LIST


def test_who_listens_hears_words() -> None:
    """Signs cannot be told apart by ear."""
    rows = page(linear=True).render(80)
    assert "done: Read the code" in rows
    assert "doing: Write the tests" in rows
    assert "to do: Fix the bug" in rows
