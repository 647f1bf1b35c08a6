"""The status line in a window of any width: the approval level is always in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline.events import Request, State
from sightline.tty import measure
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


def row(sat: Sitting, width: int) -> str:
    (shown,) = sat.console.status.render(width)
    assert measure(shown) <= width
    return shown


@pytest.mark.parametrize("level", ["plan", "edit", "auto", "full"])
async def test_the_level_is_there_from_twenty_columns_on(sat: Sitting, level: str) -> None:
    """Whatever else there is to say: that is shortened, and left out, first."""
    sat.hears(State("model", "anthropic/claude-sonnet-4-5-20250929"), State("approval", {"level": level}))
    sat.hears(State("context", {"used": 50_000, "of": 200_000}))
    for note in ("", "starting…", "session ended"):
        sat.console.current.note = note
        for width in range(20, 121):
            parts = row(sat, width).split(" · ")
            assert level in parts or f"approval {level}" in parts, (width, parts)


async def test_what_has_no_room_is_shortened_before_it_is_left_out(sat: Sitting) -> None:
    """The most important of the others; the level is its name alone where even that is long."""
    sat.console.current.note = ""
    sat.hears(State("model", "anthropic/claude-sonnet-4-5"), State("approval", {"level": "auto"}))
    assert row(sat, 20) == "anthropic/cl… · auto"
    assert row(sat, 40) == "anthropic/claude-sonnet… · approval auto"
    sat.hears(State("approval", {"level": "plan"}), Request("r", "question", "Which?", ["a"]))
    assert row(sat, 24) == "1 waiting for an… · plan"
    assert row(sat, 80).startswith("1 waiting for an answer · approval plan · anthropic/claude-sonnet-4-5")
