"""Messages between the agents of a session: each has a mailbox of its own.

Rules:

- A message is read once: by a call that waits for it, by a call that looks into the mailbox, or as a message in the
  conversation of its reader, whichever comes first.
- Messages are read in the order they came.
- A mailbox is bounded, by the number of its messages and by their length: all of it may enter its reader's context at
  once. When it is full its oldest messages are dropped, and the next look into it says how many were.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from sightline.delegation._driver import How

MAILBOX_AT_MOST = 100  # unread messages
MESSAGE_AT_MOST = 64 * 1024  # characters
UNREAD_AT_MOST = 128 * 1024  # characters of all that is unread


NEVER_READ = "its reader stopped before reading it"

MailNow = Literal["read", "unread", "dropped"]


class Mail(msgspec.Struct, frozen=True):
    """One message of one agent to another, or to all: then each of its readers has it under the same id."""

    id: str
    sender: str
    to: str
    text: str
    reply_to: str = ""
    time: float = 0.0
    to_all: bool = False


class UserWords(msgspec.Struct, frozen=True):
    """The user's words for one agent. `mail`: the id of the message that they are."""

    text: str
    mail: str
    how: How
    on_dropped: Callable[[], object]  # called when they will never be read


class _Waiter:
    def __init__(self, sender: str, future: "asyncio.Future[Mail]") -> None:
        self.sender = sender
        self.future = future

    def takes(self, mail: Mail) -> bool:
        return not self.future.done() and self.sender in ("", mail.sender)


MailListener = Callable[[Sequence[Mail], MailNow, str], object]


class Mailbox:
    """What one agent was sent and has not read. `changed` is called with what became of which messages, and why they
    were dropped."""

    def __init__(self, changed: MailListener = lambda mails, now, error: None) -> None:
        self._unread: deque[Mail] = deque()
        self._waiters: list[_Waiter] = []
        self._changed = changed
        self.dropped = 0  # since the last look into it

    def __len__(self) -> int:
        return len(self._unread)

    def put(self, mail: Mail) -> bool:
        """Whether a call that waited for it has read it at once."""
        for waiter in self._waiters:
            if waiter.takes(mail):
                waiter.future.set_result(mail)
                self._changed([mail], "read", "")
                return True
        self._unread.append(mail)
        dropped = []
        while len(self._unread) > MAILBOX_AT_MOST or self._size > UNREAD_AT_MOST:
            dropped.append(self._unread.popleft())
        self.dropped += len(dropped)
        if dropped:
            self._changed(dropped, "dropped", "its reader had too many unread messages")
        self._changed([mail], "unread", "")
        return False

    @property
    def _size(self) -> int:
        return sum(len(mail.text) for mail in self._unread)

    def put_back(self, mail: Mail) -> None:
        """It was taken, and is unread after all."""
        self._unread.appendleft(mail)
        self._changed([mail], "unread", "")

    def restore(self, mail: Mail) -> None:
        """It was unread when the session ended."""
        self._unread.append(mail)

    def is_unread(self, id: str) -> bool:
        return any(mail.id == id for mail in self._unread)

    def take(self, id: str) -> Mail | None:
        """Read this one; None when it has been read, or was dropped."""
        found = next((mail for mail in self._unread if mail.id == id), None)
        if found is not None:
            self._unread.remove(found)
            self._changed([found], "read", "")
        return found

    def take_all(self) -> list[Mail]:
        """Read everything."""
        found = list(self._unread)
        self._unread.clear()
        self.dropped = 0
        if found:
            self._changed(found, "read", "")
        return found

    def drop_all(self) -> None:
        """Its reader takes nothing any more."""
        found = list(self._unread)
        self._unread.clear()
        if found:
            self._changed(found, "dropped", NEVER_READ)

    def peek(self) -> list[Mail]:
        return list(self._unread)

    async def wait(self, sender: str = "", seconds: float | None = None) -> Mail | None:
        """The next message, of this sender if one is named; None after so many seconds. None: it waits for ever."""
        waiting = next((mail for mail in self._unread if sender in ("", mail.sender)), None)
        if waiting is not None:
            return self.take(waiting.id)
        waiter = _Waiter(sender, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                return await waiter.future
        except TimeoutError:
            return None
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled():  # it came, and its reader is gone
                self.put_back(waiter.future.result())
            raise
        finally:
            self._waiters.remove(waiter)


def mail_text(mail: Mail, how_to_answer: str = "") -> str:
    """A message as its reader reads it."""
    about = (" to all agents" if mail.to_all else "") + (f" in reply to {mail.reply_to}" if mail.reply_to else "")
    how = (
        how_to_answer or f'answer with irc, op "send", to "{mail.sender}", replyTo "{mail.id}", if an answer is needed'
    )
    return f"[message {mail.id} from {mail.sender}{about}]\n{mail.text}\n\n[{how}]"


def user_text(text: str, reply_to: str, *, to_all: bool) -> str:
    """Words of the user, as each of their readers reads them."""
    about = ["to all agents"] * to_all + [f"in reply to message {reply_to}"] * bool(reply_to)
    return f"[{', '.join(about)}]\n{text}" if about else text
