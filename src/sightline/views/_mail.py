"""Messages between agents, in the words that every view uses."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from sightline.text import clean_line
from sightline.transcript import MailReceipt, Snapshot, TranscriptMail

MAIN = "Main"  # the agent of the session, as agents address it
ALL = "all"
USER = "you"
_STANDINGS: tuple[Literal["read", "unread", "dropped", "failed"], ...] = ("read", "unread", "dropped", "failed")
_A_DAY = 24 * 60 * 60.0


def address(path: str) -> str:
    """How an agent is called in messages: its path, which no other agent has."""
    return clean_line(path) or MAIN


def mail_from(id: str, sender: str, reply_to: str = "", *, by_user: bool = False) -> str:
    """A message in the transcript of its reader: `m3 from Explore-2, in reply to m1`."""
    who = USER if by_user else address(sender)
    return f"{clean_line(id)} from {who}" + (f", in reply to {clean_line(reply_to)}" if reply_to else "")


def standing(receipt: MailReceipt) -> str:
    """What became of a message for one reader: `read`, `woken · unread`, `failed: there is no agent Two`. One that was
    dropped was not delivered after all."""
    if receipt.now in ("failed", "dropped"):
        return f"{receipt.now}: {clean_line(receipt.error)}" if receipt.error else receipt.now
    is_usual = (receipt.outcome, receipt.now) == ("delivered", "read")
    return receipt.now if is_usual else f"{receipt.outcome} · {receipt.now}"


def standing_of_all(mail: TranscriptMail) -> str:
    """For its one reader, or how many of its readers have read it, and so on."""
    if len(mail.receipts) == 1:
        return standing(mail.receipts[0])
    counts = Counter(receipt.now for receipt in mail.receipts)
    return " · ".join(f"{counts[now]} {now}" for now in _STANDINGS if counts[now])


def unread_count(thread: Iterable[TranscriptMail]) -> int:
    """As the rows of the messages say it: once for each reader."""
    return sum(receipt.now == "unread" for mail in thread for receipt in mail.receipts)


def recipients(mail: TranscriptMail) -> list[str]:
    """Whom it was sent to, in order."""
    return [ALL] if mail.to_all else [address(receipt.agent) for receipt in mail.receipts]


def sent_at(mail: TranscriptMail, now: float) -> str:
    """The time of the day; with the date, when that was long ago."""
    pattern = "%H:%M:%S" if abs(now - mail.time) < _A_DAY else "%Y-%m-%d %H:%M"
    try:
        return time.strftime(pattern, time.localtime(mail.time)) if mail.time else ""
    except (ValueError, OverflowError, OSError):  # a journal may have any number
        return ""


def takes_mail(now: Snapshot) -> Iterator[str]:
    """The paths of the agents that take a message of the user."""
    for agent in now.agents.values():
        fact = agent.fact
        if fact is not None and fact.takes_prompts:
            yield agent.path
