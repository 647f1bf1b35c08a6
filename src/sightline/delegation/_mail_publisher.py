"""Publishes the messages of a session: one event for each that is sent, and one for what becomes of it later.

A message is known to views from the moment it was sent, with what became of it for each reader by then. It is published
under the path of its sender, what becomes of it under that of its reader.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from sightline.actors import Actor
from sightline.delegation._mailboxes import MailNow
from sightline.events import Event, MailChanged, MailReader, MailSent
from sightline.transcript import TranscriptMail

_IRC, _USER = "irc", "person"


class MailPublisher:
    """Used in the session's event loop only. `root`: the actor of the session's agent."""

    def __init__(self, root: Actor) -> None:
        self._root = root
        self._count = 0
        self._being_sent = ""

    def continue_after(self, thread: Sequence[TranscriptMail]) -> None:
        """No message gets the id of an earlier one. Words of the user that were not read were lost with their host."""
        numbers = [int(mail.id[1:]) for mail in thread if mail.id[1:].isdecimal()]
        self._count = max([self._count, *numbers])
        for mail in thread:
            for receipt in mail.receipts if mail.by_user else ():
                if receipt.now == "unread":
                    self.changed(receipt.agent, [mail.id], "dropped", "the session ended before it was read")

    @contextmanager
    def sending(self) -> Iterator[str]:
        """The id of a new message. What becomes of it in here is part of the event that is published then."""
        self._count += 1
        self._being_sent = f"m{self._count}"
        try:
            yield self._being_sent
        finally:
            self._being_sent = ""

    def sent(
        self, id: str, sender: str, text: str, readers: Sequence[MailReader], *, to_all: bool, reply_to: str
    ) -> None:
        """By the agent at this path."""
        self._publish(sender, _IRC, MailSent(id, text, list(readers), to_all, reply_to))

    def written(self, id: str, text: str, readers: Sequence[MailReader], *, to_all: bool, reply_to: str) -> None:
        """By the user."""
        self._publish("", _USER, MailSent(id, text, list(readers), to_all, reply_to))

    def changed(self, reader: str, ids: Collection[str], now: MailNow, error: str = "") -> None:
        news = [id for id in ids if id != self._being_sent]
        if news:
            self._publish(reader, _IRC, MailChanged(news, now, error))

    def _publish(self, path: str, source: str, event: Event) -> None:
        # Not through the agent's own actor: words of it that are under way continue after this.
        self._root.resumed_child(path).observed_by(source).publish(event)
