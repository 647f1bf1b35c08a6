"""The vocabulary: its kinds, its wire form, and what may be relied on."""

import re
from pathlib import Path

import msgspec
import pytest

import sightline.events as events
from sightline.events import KINDS, Text, ToolUse, decode_event, encode_event
from sightline.events.stamping import stamp

SAMPLES = {
    "text": {"text": "x"},
    "user": {"text": "x"},
    "mail_sent": {"id": "m1", "text": "x", "readers": [events.MailReader("a-1", "delivered")]},
    "mail_changed": {"ids": ["m1"], "now": "read"},
    "reasoning": {"text": "x"},
    "tool_use": {"id": "1", "name": "Read"},
    "tool_args": {"id": "1", "name": "Read"},
    "tool_output": {"id": "1", "content": "x"},
    "tool_update": {"id": "1"},
    "tool_connection": {"id": "1", "connection": 1, "host": "a.org", "port": 443, "verdict": "allowed"},
    "tool_result": {"id": "1"},
    "agent_started": {"path": "a-1"},
    "agent_ended": {"path": "a-1"},
    "request": {"id": "1", "what": "approval"},
    "request_resolved": {"id": "1"},
    "state": {"key": "model"},
    "notice": {"text": "x"},
    "error": {"text": "x"},
    "unknown": {"raw": "x", "length": 1},
}


def test_a_receipt_of_a_message_that_an_earlier_version_stored_is_read():
    """What it called injected is delivered."""
    reader = b'{"agent":"a-1","outcome":"injected","unread":true}'
    sent = decode_event(b'{"kind":"mail_sent","id":"m1","text":"x","readers":[' + reader + b"]}")
    assert sent.readers == [events.MailReader("a-1", "delivered", unread=True)]


def test_the_kinds_are_those_of_the_design():
    """The names on the wire are a promise; this pins them."""
    assert list(KINDS) == [
        "user", "mail_sent", "mail_changed", "text", "reasoning", "tool_use", "tool_args", "tool_output", "tool_update",
        "tool_connection", "tool_result",
        "run_started", "turn_started", "turn_ended", "run_ended", "agent_started", "agent_ended",
        "request", "request_resolved", "state", "notice", "error", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_survives_the_wire(kind):
    """An event, encoded and decoded, is the same event; `kind` says which; every kind explains itself."""
    event = KINDS[kind](**SAMPLES.get(kind, {}), agent="a-1", source="test", seq=7, time=1.5)
    line = encode_event(event)
    assert b"\n" not in line
    assert msgspec.json.decode(line)["kind"] == kind
    assert decode_event(line) == event
    assert KINDS[kind].__doc__


def test_events_are_frozen():
    """Nobody changes what happened."""
    with pytest.raises(AttributeError):
        Text("x").text = "y"


def test_stamping_gives_place_and_time_once():
    """The owner of the session numbers an event in place, before anyone else has it."""
    event = stamp(ToolUse("1", "Read"), 3, 2.0)
    assert (event.seq, event.time) == (3, 2.0)


def test_an_unknown_field_is_ignored_and_an_unknown_kind_is_said():
    """A newer writer may add fields; a kind we do not know is an error of the decoder, for the caller to ignore."""
    assert decode_event(b'{"kind":"text","text":"x","new":1}') == Text("x")
    with pytest.raises(msgspec.ValidationError):
        decode_event(b'{"kind":"from the future"}')


def test_public_names_are_pinned():
    """The door of the package, and `stamping`, which few may import: additions are deliberate."""
    exported = re.findall(r"^from \S+ import (\w+) as \1$", Path(events.__file__).read_text(), re.M)
    assert {*exported, "stamping"} == {name for name in dir(events) if not name.startswith("_")}
