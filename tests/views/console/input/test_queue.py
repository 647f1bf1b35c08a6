"""What waits for the agent."""

import pytest

from sightline.events import QueuedMessage
from sightline.tty import measure
from sightline.views.console.input import QueuePanel

from .support import drawing, shown


def test_messages_are_shown_with_when_they_are_sent_and_how_to_have_them_back():
    """The first line of each; steered ones come next, the others after."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("\nuse tabs\nplease", "steer"), QueuedMessage("then test", "follow_up")])
    assert shown(queue) == [" next: use tabs", " after: then test", " alt+up to edit"]
    assert len(queue) == 2


def test_more_than_fit_are_counted():
    """Four rows, and how many more."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage(f"message {number}", "steer") for number in range(7)])
    assert len(shown(queue)) == 5
    assert shown(queue)[-1] == " … 3 more · alt+up to edit"


def test_a_message_without_a_known_way_is_shown_as_next():
    """New ways of sending are no error here."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("hello", "telepathy")])
    assert shown(queue)[0] == " next: hello"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_rows_fit_and_stay_the_same_object(width):
    """Hostile and wide text, at every width."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("日本語" * 60, "steer"), QueuedMessage("a\x1b[2Jb" * 60, "follow_up")])
    rows = queue.render(width)
    assert all(measure(row) <= width and "\x1b" not in row for row in rows)
    assert queue.render(width) is rows
