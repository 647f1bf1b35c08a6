"""The messages between agents as a tab gets them: the last ones, and those that changed. A long text is cut; the page
asks for the whole of it, and for earlier messages.
"""

from collections.abc import Collection

from sightline.events import Event, MailChanged, MailSent, User
from sightline.text import cut_graphemes
from sightline.transcript import Snapshot, TranscriptMail
from sightline.views._mail import address, recipients, standing, standing_of_all
from sightline.views.web.api._bodies import MailBody, MailList

MOST_MAIL = 100  # messages that are sent together
_TEXT_AT_MOST, _LINES_AT_MOST = 1000, 8  # characters and lines of one
_READERS_AT_MOST = 20  # of one


def mail_of(event: Event) -> Collection[str]:
    """The ids of the messages that changed with it."""
    match event:
        case MailSent():
            return (event.id,)
        case MailChanged():
            return event.ids
        case User():
            return (event.mail,) if event.mail else ()
    return ()


def last_mail(now: Snapshot, before: int | None = None) -> MailList:
    """The last messages before one, by its number from 0, and how many there are."""
    end = len(now.mail) if before is None else min(before, len(now.mail))
    return MailList(len(now.mail), [_body(n, now.mail[n]) for n in range(max(end - MOST_MAIL, 0), end)])


def changed_mail(now: Snapshot, ids: Collection[str]) -> MailList:
    return MailList(len(now.mail), [_body(n, mail) for n, mail in _found(now, ids)])


def whole_mail(now: Snapshot, id: str) -> MailBody | None:
    """One message with all of its text and readers; None where there is no such one."""
    return next((_body(n, mail, is_whole=True) for n, mail in _found(now, [id])), None)


def _found(now: Snapshot, ids: Collection[str]) -> list[tuple[int, TranscriptMail]]:
    """Looked for from the end: what changes is seldom old."""
    left, found = set(ids), []
    for n in range(len(now.mail) - 1, -1, -1):
        if not left:
            break
        if now.mail[n].id in left:
            left.discard(now.mail[n].id)
            found.append((n, now.mail[n]))
    return found[::-1]


def _body(n: int, mail: TranscriptMail, *, is_whole: bool = False) -> MailBody:
    receipts = mail.receipts if is_whole else mail.receipts[:_READERS_AT_MOST]
    text = mail.text if is_whole else _beginning(mail.text)
    return MailBody(
        n=n,
        id=mail.id,
        time=mail.time,
        sender=mail.sender,
        by_user=mail.by_user,
        sent_by="" if mail.by_user else address(mail.sender),
        to=recipients(mail)[: None if is_whole else _READERS_AT_MOST],
        to_all=mail.to_all,
        paths=[receipt.agent for receipt in receipts],
        readers=[f"{address(receipt.agent)}: {standing(receipt)}" for receipt in receipts],
        standing=standing_of_all(mail),
        reply_to=mail.reply_to,
        text=text,
        length=len(mail.text),
        whole=text is mail.text,
    )


def _beginning(text: str) -> str:
    """The very text where it is short."""
    lines = text[:_TEXT_AT_MOST].split("\n", _LINES_AT_MOST)
    if len(text) <= _TEXT_AT_MOST and len(lines) <= _LINES_AT_MOST:
        return text
    return cut_graphemes("\n".join(lines[:_LINES_AT_MOST]) + "…", _TEXT_AT_MOST)
