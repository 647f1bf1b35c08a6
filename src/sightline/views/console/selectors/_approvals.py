"""`/approvals`: what the agent may do without approval: the level of this session, and the rules with their origins.
Rules that come from the user's own answers can be forgotten.

The key switches between levels but never to `full`, which would answer a request that is open at that moment: `full`
has to be named.
"""

from typing import Any

import msgspec

from sightline.host import CommandReply, SetApproval
from sightline.settings import shown_rule, typed_rule
from sightline.text import clean_line
from sightline.tty.components import Item
from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS
from sightline.views.console._desk import Desk, accepted, reply_data
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.status import Facts

_CYCLE = ("plan", "edit", "auto")
_ORIGINS = {
    "session": "for this session",
    "always": "always in this folder",
    "settings": "settings",
    "flag": "command line",
    "stored": "earlier command line of this session",
    "program": "what started the session",
}
_FORGETTABLE = ("session", "always")
_FORGET = "forget "


class RuleRow(msgspec.Struct, frozen=True):
    rule: str
    verdict: str
    origin: str
    where: str


class _Forget(msgspec.Struct, frozen=True):
    rule: str


async def open(desk: Desk, args: str) -> None:
    if args.startswith(_FORGET):
        desk.report(await _forgotten(desk, args.removeprefix(_FORGET).strip()))
    elif args:
        await _choose(desk, args)
    else:
        await _browse(desk)


async def _browse(desk: Desk) -> None:
    at, note = "", ""
    while True:
        reply = await accepted(desk, SetApproval())
        if reply is None:
            return
        panel = ApprovalsPanel(desk, reply, at)
        panel.heading.set_note(note)
        match await desk.ask(panel):
            case None:
                return
            case _Forget(rule):
                at, note = "", await _forgotten(desk, rule)
            case level:
                await _choose(desk, level)
                return


async def _choose(desk: Desk, level: str) -> None:
    if words := await set_level(desk, level):
        desk.report(words)


async def set_level(desk: Desk, level: str) -> str:
    """Returns a description of the new level; empty when it was refused, which is reported."""
    reply = await accepted(desk, SetApproval(level=level))
    if reply is None:
        return ""
    when = ", from the next prompt on" if reply_data(reply).get("next") else ""
    return f"approval {level}{when}: {_about(desk).get(level, '')}"


async def _forgotten(desk: Desk, rule: str) -> str:
    reply = await desk.submit(SetApproval(forget=rule))
    if reply.ok:
        return f"forgotten: {shown_rule(typed_rule(rule))}"
    return f"{reply.error} ({reply.hint})" if reply.hint else reply.error


async def next_level(desk: Desk, args: str) -> None:
    if words := await set_level(desk, level_after(Facts(desk.state).approval)):
        desk.hint(words)


def level_after(now: str) -> str:
    return _CYCLE[(_CYCLE.index(now) + 1) % len(_CYCLE)] if now in _CYCLE else _CYCLE[0]


class ApprovalsPanel(ChoicePanel):
    """Answers with a level, or with a rule to forget."""

    def __init__(self, desk: Desk, reply: CommandReply, at: str) -> None:
        data = reply_data(reply)
        self._rows = {f"rule {number}": row for number, row in enumerate(rows_of(data))}
        now = str(data.get("level", ""))
        levels = [str(level) for level in data.get("levels") or ()]
        items = [
            Item(level, f"{level} (now)" if level == now else level, _about(desk).get(level, ""), "level")
            for level in levels
        ]
        items += [_item(value, row) for value, row in self._rows.items()]
        hints = (("list_remove", "forget a rule"),)
        keys = {"list_remove": self._remove}
        super().__init__(desk, "Approvals", items, at=at or now, hints=hints if self._rows else (), keys=keys)
        self.list.on_select = self._take

    def _take(self, item: Item) -> None:
        row = self._rows.get(item.value)
        if row is None:
            self.finish(item.value)
        else:
            self._explain(row)

    def _remove(self, item: Item) -> None:
        row = self._rows.get(item.value)
        if row is None:
            return
        if row.origin in _FORGETTABLE:
            self.finish(_Forget(row.rule))
        else:
            self._explain(row)

    def _explain(self, row: RuleRow) -> None:
        """Note what can be done about a rule: it is not chosen."""
        key = next(iter(self.desk.bindings.keys("list_remove")), "")
        way = f"{key} forgets it" if key else f"/approvals forget {shown_rule(row.rule)}"
        place = row.where or _ORIGINS.get(row.origin, row.origin)
        self.heading.set_note(way if row.origin in _FORGETTABLE else f"it comes from {place}")
        self.redraw()


def rows_of(data: dict[str, Any]) -> list[RuleRow]:
    """Denials first: they take precedence."""
    rules = data.get("rules")
    rows = [
        RuleRow(*(str(each.get(name) or "") for name in ("rule", "verdict", "origin", "where")))
        for each in (rules if isinstance(rules, list) else ())
        if isinstance(each, dict)
    ]
    passed = data.get("passed")
    names = passed if isinstance(passed, list) else ()
    rows += [RuleRow(str(name), "passed to every command", "settings", "") for name in names]
    return sorted(rows, key=lambda row: row.verdict != "deny")


def _item(value: str, row: RuleRow) -> Item:
    origin = _ORIGINS.get(row.origin, row.origin)
    about = f"{row.verdict} · {origin}" + (f" · {row.where}" if row.where else "")
    return Item(value, shown_rule(row.rule), clean_line(about), "rules")


def _about(desk: Desk) -> dict[str, str]:
    return LEVELS_OF_OTHERS if Facts(desk.state).provider else LEVELS
