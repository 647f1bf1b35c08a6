"""Messages between agents, in the words that every view uses."""

from sightline.text import clean_line
from sightline.transcript import MailReceipt, TranscriptMail

MAIN = "Main"  # the agent of the session, as agents address it
USER = "you"


def address(path: str) -> str:
    """How an agent is called in messages: its path, which no other agent has."""
    return clean_line(path) or MAIN


def mail_from(id: str, sender: str, reply_to: str = "", *, by_user: bool = False) -> str:
    """A message in the transcript of its reader: `m3 from Explore-2, in reply to m1`."""
    who = USER if by_user else address(sender)
    return f"{clean_line(id)} from {who}" + (f", in reply to {clean_line(reply_to)}" if reply_to else "")


def standing(receipt: MailReceipt) -> str:
    """What became of a message for one reader: `read`, `injected · unread`, `failed: there is no agent Two`."""
    if receipt.now == "failed":
        return f"failed: {clean_line(receipt.error)}" if receipt.error else "failed"
    return receipt.now if receipt.now == "read" and receipt.outcome == "injected" else f"{receipt.outcome} · {receipt.now}"


def readers(mail: TranscriptMail) -> list[str]:
    """Whom it was sent to, in order."""
    return ["all"] if mail.to_all else [address(receipt.agent) for receipt in mail.receipts]
