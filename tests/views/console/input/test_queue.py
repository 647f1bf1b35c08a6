"""What waits for the agent."""

import pytest

from sightline.events import QueuedMessage
from sightline.tty import measure
from sightline.views.console.input import QueuePanel

from .support import drawing, shown


def test_messages_are_shown_with_when_they_are_sent_and_how_to_have_them_back():
    """The first line of each; what steers is read with the next request, the rest when the agent is done."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("\nuse tabs\nplease", "steer"), QueuedMessage("then test", "follow_up")], steers=True)
    assert shown(queue) == [" steering: use tabs", " queued: then test", " alt+up to edit"]
    assert len(queue) == 2


def test_more_than_fit_are_counted():
    """Four rows, and how many more."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage(f"message {number}", "steer") for number in range(7)], steers=True)
    assert len(shown(queue)) == 5
    assert shown(queue)[-1] == " … 3 more · alt+up to edit"


def test_a_message_without_a_known_way_is_shown_as_queued():
    """New ways of sending are no error here."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("hello", "telepathy")], steers=True)
    assert shown(queue)[0] == " queued: hello"


def test_what_cannot_steer_is_queued():
    """Of an agent that reads nothing while it works."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("hello", "steer")], steers=False)
    assert shown(queue)[0] == " queued: hello"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_rows_fit_and_stay_the_same_object(width):
    """Hostile and wide text, at every width."""
    queue = QueuePanel(drawing())
    queue.set([QueuedMessage("日本語" * 60, "steer"), QueuedMessage("a\x1b[2Jb" * 60, "follow_up")], steers=True)
    rows = queue.render(width)
    assert all(measure(row) <= width and "\x1b" not in row for row in rows)
    assert queue.render(width) is rows
