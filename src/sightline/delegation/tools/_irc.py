"""`irc`: messages between the agents of a session.

Rules:

- Sending never waits for what the other does with it. `wait`, and `send` with `await`, wait, for a bounded time.
- A message to all reaches those that work or rest; parked ones are revived only by one that is sent to them alone.
- That no message came in time is a result, not an error.
"""

import asyncio
import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sightline.delegation._directory import AgentDirectory, Delivery, given_away
from sightline.delegation._mailboxes import Mail, Mailbox
from sightline.delegation._member import Member
from sightline.delegation._names import ROOT
from sightline.text import clean_line
from sightline.tools import Outcome, Tool, ToolContext, ToolError

ALL = "all"
_DEFAULT_MS = 120_000
_LONGEST_MS = 30 * 60 * 1000  # two agents that wait for each other must not do so forever
_ROWS_AT_MOST = 200  # agents in a list


class IrcParams(
    msgspec.Struct,
    frozen=True,
    rename={"reply_to": "replyTo", "wait_for": "await", "sender": "from", "timeout_ms": "timeoutMs"},
):
    op: Literal["send", "wait", "inbox", "list"]
    to: Annotated[str, Meta(description='send: the id of an agent, "Main", or "all".')] = ""
    message: Annotated[str, Meta(description="send: the text.")] = ""
    reply_to: Annotated[str, Meta(description="send: the id of the message this answers.")] = ""
    wait_for: Annotated[bool, Meta(description="send: then wait for the next message of that agent.")] = False
    sender: Annotated[str, Meta(description="wait: only a message of this agent.")] = ""
    timeout_ms: Annotated[
        float | None, Meta(description="wait, await: milliseconds; 0: half an hour, the longest.")
    ] = None
    peek: Annotated[bool, Meta(description="inbox: leave the messages unread.")] = False


class IrcTool(Tool[IrcParams]):
    name = "irc"
    description = """\
Messages between you and other agents. `list` shows who there is; `send` reaches a running agent at its next step, \
wakes an idle one and revives a parked one; `wait` waits for a message, `inbox` shows those that came. Answers are not \
immediate: do not send the same again."""
    params = IrcParams

    def __init__(self, directory: AgentDirectory, caller: Member | None) -> None:
        self._directory = directory
        self._caller = caller

    def preview(self, params: IrcParams) -> str:
        to = f" {params.to}" if params.to else ""
        return f"{params.op}{to} {params.message}".strip()

    async def execute(self, params: IrcParams, context: ToolContext) -> Outcome:
        match params.op:
            case "list":
                return self._list()
            case "send":
                return await self._send(params, context)
            case "wait":
                mail = await self._waited(params.sender.strip(), params, context)
                return _outcome(
                    "wait",
                    _shown_mail(mail) if mail else _none_within(self._seconds(params, context)),
                    waited=_plain(mail),
                )
            case "inbox":
                return self._inbox(params.peek)

    @property
    def _mailbox(self) -> Mailbox:
        return self._directory.root_mail if self._caller is None else self._caller.mailbox

    def _list(self) -> Outcome:
        peers = self._directory.peers(self._caller)
        if self._caller is None and not peers:
            return _outcome("list", "No other agents.")
        rows = [] if self._caller is None else [f"- {ROOT} [the user talks to it]"]
        rows += [_row(peer) for peer in peers]
        text = f"{len(rows)} {'peer' if len(rows) == 1 else 'peers'}:\n" + "\n".join(rows[:_ROWS_AT_MOST])
        if len(rows) > _ROWS_AT_MOST:
            text += f"\n[{len(rows) - _ROWS_AT_MOST} more are not listed]"
        if any(peer.state == "parked" for peer in peers):
            text += "\n[a parked agent is revived by a message]"
        return _outcome("list", text, peers=[{"id": peer.id, "state": peer.state} for peer in peers])

    async def _send(self, params: IrcParams, context: ToolContext) -> Outcome:
        to, text = params.to.strip(), params.message.strip()
        if not to:
            raise ToolError("`to` is missing: the id of an agent, or all.")
        if not text:
            raise ToolError("`message` is empty.")
        everyone = to.lower() == ALL
        if everyone and params.wait_for:
            raise ToolError("`await` waits for one agent: send to one, not to all.")
        if to.lower() == (ROOT if self._caller is None else self._caller.id).lower():
            raise ToolError("You cannot send a message to yourself.")
        names = [to] if not everyone else [peer.id for peer in self._directory.peers(self._caller, live=True)]
        if everyone and self._caller is not None:
            names.append(ROOT)
        sent = self._directory.send_to(self._caller, names, text, params.reply_to, to_all=everyone)
        receipts = sent.receipts
        lines = [_receipt(sent.id, receipt) for receipt in receipts] or ["No other agents."]
        failed = all(receipt.outcome == "failed" for receipt in receipts)
        waited: Mail | None = None
        if params.wait_for and not failed:
            waited = await self._waited(receipts[0].to, params, context)
            lines.append(
                _shown_mail(waited)
                if waited
                else f"{_none_within(self._seconds(params, context))} Look with inbox later, or wait."
            )
        facts = {"id": sent.id, "receipts": msgspec.to_builtins(receipts), "waited": _plain(waited)}
        outcome = _outcome("send", "\n".join(lines), **facts)
        return msgspec.structs.replace(outcome, is_error=failed)

    def _inbox(self, peek: bool) -> Outcome:
        box = self._mailbox
        dropped = box.dropped
        mails = box.peek() if peek else box.take_all()
        lost = f"[{dropped} older messages were dropped: the mailbox was full]\n" if dropped else ""
        if not mails:
            return _outcome("inbox", f"{lost}Inbox empty.")
        rows = "\n".join(f"- {_shown_mail(mail)}" for mail in mails)
        text = f"{lost}{len(mails)} {'message' if len(mails) == 1 else 'messages'}:\n{rows}"
        return _outcome("inbox", text, inbox=[_plain(mail) for mail in mails])

    async def _waited(self, sender: str, params: IrcParams, context: ToolContext) -> Mail | None:
        seconds, box, mail = self._seconds(params, context), self._mailbox, None
        try:
            async with given_away(self._caller):
                mail = await box.wait(self._named(sender), seconds)
        except asyncio.CancelledError:
            if mail is not None:  # it came, and its reader was stopped before it had a place again
                box.put_back(mail)
            raise
        return mail

    def _named(self, sender: str) -> str:
        """As messages have it."""
        if not sender or sender.lower() == ROOT.lower():
            return ROOT if sender else ""
        return self._directory.get(sender).id

    def _seconds(self, params: IrcParams, context: ToolContext) -> float:
        given = params.timeout_ms
        if given is None:
            given = context.settings.irc.timeout_seconds * 1000
        if given == 0:
            given = _LONGEST_MS
        if given != given or given in (float("inf"), float("-inf")) or given < 0:
            given = _DEFAULT_MS
        return max(int(min(given, _LONGEST_MS)), 1) / 1000


def _outcome(op: str, text: str, **facts: object) -> Outcome:
    return Outcome(text=text, details={"op": op, **facts})


def _row(peer: Member) -> str:
    unread = f" · {len(peer.mailbox)} unread" if len(peer.mailbox) else ""
    parent = f" · started by {peer.record.parent}" if peer.record.parent else ""
    age = max(time.time() - peer.active, 0)
    kind = peer.record.definition.provider or "ours"
    return (
        f"- {peer.id} [{peer.record.definition.name} · {kind} · {peer.state}]{unread}{parent} · active {age:.0f} s ago"
    )


def _receipt(id: str, receipt: Delivery) -> str:
    """With the id, which an answer names."""
    more = f": {clean_line(receipt.error)}" if receipt.outcome == "failed" else f" ({id})"
    return f"{receipt.to}: {receipt.outcome}{more}"


def _shown_mail(mail: Mail) -> str:
    about = f" (reply to {mail.reply_to})" if mail.reply_to else ""
    return f"[{mail.id}] {mail.sender}{about}: {mail.text}"


def _none_within(seconds: float) -> str:
    return f"No message within {seconds:g} s."


def _plain(mail: Mail | None) -> object:
    return None if mail is None else msgspec.to_builtins(mail)
