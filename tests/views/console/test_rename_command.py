"""`/rename`: a title that cannot be is an error in the console, not the end of it."""

import pytest

from sightline.journal import Store
from sightline.views.console.commands._sessions import rename
from tests.journal.conversations import Talk, user


class _Console:
    """What the command needs of a console."""

    def __init__(self, store: Store, session: str) -> None:
        self.store = store
        self.session = session
        self.told: list[tuple[str, ...]] = []

    def report(self, *words: str) -> None:
        self.told.append(words)


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("x" * 501, ("the title has 501 characters, and may have 500", "error", "give a short title")),
        ("\u202e", ("the title is empty", "error", "give a short title")),
        ("Lens work", ("this session is called: Lens work",)),
    ],
)
async def test_a_title_that_cannot_be_is_an_error(tmp_path, title, told):
    store = Store(tmp_path)
    talk = Talk(store)
    talk.step(user("polish the lens"))
    console = _Console(store, talk.close())
    await rename(console, title)
    assert console.told == [told]
