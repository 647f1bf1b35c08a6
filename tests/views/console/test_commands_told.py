"""Commands that cannot do what was asked say what is the matter; leaving offers only what is true."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sightline.events import RunStarted, User
from sightline.views.console._actions import COMMANDS
from tests.views.console.sitting import Sitting


@pytest.fixture
async def sat(tmp_path: Path, own_home: None) -> AsyncIterator[Sitting]:
    one = Sitting(tmp_path)
    yield one
    await one.close()


async def test_a_file_that_is_not_there_is_no_broken_image(sat: Sitting, tmp_path: Path) -> None:
    """One that is there and is no image is called that."""
    (tmp_path / "words.png").write_text("no image")
    await COMMANDS["attach"].run(sat.console, "nope.png")
    await sat.until(lambda: "there is no file nope.png" in sat.rows)
    await COMMANDS["attach"].run(sat.console, "words.png")
    await sat.until(lambda: "words.png is not an image that can be read" in sat.rows)
    assert "there is no file words.png" not in sat.rows


def test_every_word_the_todo_list_knows_is_named() -> None:
    """Whoever hid it reads how to have it back."""
    assert set(COMMANDS["todo"].args.strip("[]").split("|")) == {"show", "hide", "edit", "clear"}


@pytest.mark.parametrize("lasting", [True, False])
async def test_what_is_gone_afterwards_is_not_offered_to_be_kept(sat: Sitting, *, lasting: bool) -> None:
    """The demo has nothing one could come back to."""
    sat.console.sessions.lasting = lasting
    sat.hears(RunStarted("s"), User("go", source="person"))
    sat.press("ctrl+d")
    await sat.until(lambda: "Leave?" in sat.rows)
    assert ("Keep it running" in sat.rows) is lasting
    assert "Stop it" in sat.rows
