"""The dialog for an approval: everything there is to know about the call, and four answers.

Rules:

- Shown are, each once: agent and tool, how much there is to read, all of the command or the change, the other arguments
  of the call, whether the sandbox holds it, the folder, why it needs approval, and the rule an answer for longer would
  become.
- Nothing is allowed unseen. Where not all of it fits, there is no yes before its end was in sight; no is always there.
  Where rows are few, the command or the change comes first; where not even three rows of it fit above the answers, no
  is the only one.
- What leaves the sandbox, or cannot be shown whole, has no yes preselected: the highlight begins on no.
- "Always here" saves the rule that is shown, at once where all of it was in sight. It can be changed first: one that
  cannot be parsed is refused, one that does not cover this request is accepted when it is entered a second time. A rule
  in another program's language is saved by that program: it is shown, and used as it is.
- "No" may have a reason; the model reads it. Escape and Ctrl+C are a step back; from the choices they close the dialog
  unanswered, which is never a yes.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sightline.text import clean_line, clean_text, visible
from sightline.tty import Input, Key, Rows, Theme
from sightline.tty.components import Input as TextInput
from sightline.tty.components import Item, SelectList
from sightline.tty.components._exact_lines import ExactDiff, ExactLines, ExactText, Paragraphs
from sightline.views.console._agent_names import asker, asks
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, details_of, usual_height
from sightline.views.console.dialogs._reading import PartsToRead

if TYPE_CHECKING:
    from sightline.settings.rules._rules import Access

ONCE, SESSION, ALWAYS, NO = "once", "this session", "always here", "no"

_LABELS = {ONCE: "Yes, this once", SESSION: "Yes, for this session", ALWAYS: "Yes, always in this folder", NO: "No"}
_KEYS_FROM = 32  # columns: with less, the words of a choice alone fit
_DESCRIBED_FROM = 70  # columns: with less, a choice and why it waits do not fit side by side
_SCOPES = {SESSION: "For this session", ALWAYS: "Always in this folder"}
_ACTIONS = {ONCE: "approve_once", SESSION: "approve_session", ALWAYS: "approve_always", NO: "approve_no"}
_SEEN_AT_LEAST = 3
_DOES_NOT_FIT = (
    "This rule does not cover this request: it is allowed now, but asked again next time. Press enter again to save it."
)
_TOO_LOW = "Allow this? Make the window larger to answer."
DOING: "dict[Access, str]" = {"exec": "run", "network": "connect to", "write": "write", "read": "read"}
_OBVIOUS = {("exec", "bash"), ("write", "write"), ("read", "read")}  # the tool is what it does
_SHOWN_ELSEWHERE = ("input", "content", "path")  # where there is a diff
_NO_NEWLINE = "\\ No newline at end of file"
_SIZED_FROM = 200  # characters of one line


class _Shape(NamedTuple):
    """What the list of choices looks like."""

    too_low: bool = False  # too few rows for a yes
    has_keys: bool = False
    seen: bool = True  # all that has to be read
    has_reasons: bool = False  # why a choice is disabled


class ApprovalDialog(Dialog):
    """Answers `{"choice": …, "rule": …, "reason": …}`; None when it was closed."""

    def __init__(self, request: dict[str, object], drawing: DrawingOptions, height: Height = usual_height) -> None:
        super().__init__(asks(request, "Allow this?"), drawing, height, role="warning")
        self._details = details_of(request)
        self._request = request
        self._exact = str(self._details.get("rule") or "")
        """As requested. It may have several lines; as one line it would be the rule of another command."""
        self._rule = _as_shown(self._exact)
        self._is_ours = bool(self._rule) and _is_rule(self._exact)
        self._scope = ""
        """How long a changed rule is valid; empty: the user has yet to choose."""
        self._doubted = ""
        """The rule the user was warned about: it does not cover this request."""
        self._given = ""
        self._scopes: SelectList | None = None
        self._what_first = False
        self._body = PartsToRead(*self._in_order(), drawing)
        self._width = 0
        self._shape = _Shape()
        self._asks_why = False
        self._list = self.choices(self._items(), self._choose, max_rows=6)
        if self._details.get("leaves") is not False or self._details.get("unseen"):
            self._highlight(NO)
        self._show_choices()

    def render(self, width: int) -> Rows:
        self._width = width
        self._fit()
        rows = super().render(width)
        if self._body.unseen == self._shape.seen:
            self._fit()
            rows = super().render(width)
        return rows

    def handle_input(self, event: Input) -> bool:
        if not self.drawing.linear:
            if not self._width:
                return False  # it has not been drawn yet
            self._fit()
        if self._list in self.children and isinstance(event, Key):
            for choice, action in _ACTIONS.items():
                if choice in self._choices and self.bindings.matches(event, action):
                    self._choose(choice)
                    return True
            if self._is_ours and self._may_allow and self.bindings.matches(event, "approve_rule"):
                self._edit_rule("")
                return True
        return super().handle_input(event)

    def cancel(self) -> None:
        if self._list in self.children:
            self.finish(None)
        elif self._scopes in self.children:
            self._ask_rule(_as_shown(self._given))
        else:
            self._show_choices()

    @property
    def _choices(self) -> list[str]:
        offered = self._request.get("choices")
        return [str(choice) for choice in offered] if isinstance(offered, list) and offered else [ONCE, NO]

    def _items(self) -> Iterator[Item]:
        for choice in self._choices:
            shape = self._shape
            action = _ACTIONS.get(choice)  # an answer that only this request offers has none
            key = next(iter(self.bindings.keys(action)), "") if action and shape.has_keys else ""
            label = _LABELS.get(choice, choice) + (f" ({key})" if key else "")
            if choice == NO or not shape.too_low:
                disabled = choice != NO and not shape.seen
                about = self._way_to_end() if disabled and shape.has_reasons else ""
                yield Item(choice, label, about, disabled=disabled)

    def _way_to_end(self) -> str:
        key = next(iter(self.bindings.keys("select_last")), "")
        return f"scroll to the end to allow{key and f' ({key})'}"

    def _in_order(self) -> tuple[list[ExactLines], int]:
        """The parts to show, and how many of them have to be seen: up to the end of the command or change."""
        details, theme = self._details, self.theme
        leaves = details.get("leaves") is not False
        about = [
            *paragraphs(head(self._request, details, comes_first=not self._what_first), None, theme),
            *paragraphs(warnings(details), "warning", theme),
        ]
        air: list[ExactLines] = [] if self._what_first else [_Air()]
        what = [*what_lines(details, theme), *paragraphs(other_arguments(details), "muted", theme)]
        held = [] if self._what_first else paragraphs(where(details), "warning" if leaves else None, theme)
        around = [*held, *paragraphs(circumstances(details), None, theme)]
        to_read = [*what, *about, *around] if self._what_first else [*about, *air, *what, *air, *around]
        rule = f"Remember as{self._way_to_change()}: {self._rule}" if self._rule else ""
        return [*to_read, *paragraphs(rule, "muted", theme)], len(to_read)

    def _way_to_change(self) -> str:
        key = next(iter(self.bindings.keys("approve_rule")), "")
        return f" ({key} to edit)" if key and self._is_ours else ""

    def _fit(self) -> None:
        """Make the best of the rows there are."""
        if self.is_small != self._what_first:
            self._what_first = self.is_small
            self._body.set_parts(*self._in_order())
        too_low = self.is_small and self._hides_what()
        has_keys = self._width >= _KEYS_FROM and not self.drawing.linear
        shape = _Shape(too_low, has_keys, not self._body.unseen, self._width >= _DESCRIBED_FROM)
        if shape == self._shape:
            return
        before, self._shape = self._shape, shape
        self._renew_items()
        leaves_rule = too_low != before.too_low and not self._asks_why
        if leaves_rule or (shape.seen != before.seen and self._list in self.children):
            self._show_choices()

    @property
    def _may_allow(self) -> bool:
        return not self._shape.too_low and self._shape.seen

    def _renew_items(self) -> None:
        marked = self._list.highlighted
        self._list.set_items(self._items())
        if marked is not None:
            self._highlight(marked.value)
        if self._list.highlighted is not None and self._list.highlighted.disabled:
            self._highlight(NO)

    def _highlight(self, value: str) -> None:
        values = [item.value for item in self._list.matching]
        if value in values and self._list.highlighted is not None:
            self._list.move(values.index(value) - values.index(self._list.highlighted.value))

    def _hides_what(self) -> bool:
        room = self.rows - len(self._choices)
        return room <= _SEEN_AT_LEAST and not self._body.fits(max(self._width - 2, 1), room)  # a row says there is more

    def _show_choices(self) -> None:
        self._asks_why = False
        if self._shape.too_low:
            return self.show(self.text(_TOO_LOW, "warning"), self._list, hints=[("approve_no", "refuse")])
        waits = not self._shape.seen
        hints = [("select_last", "scroll to the end to allow") if waits else ("select_confirm", "choose")]
        return self.show(self._body, self._list, hints=[*hints, ("interrupt", "refuse")])

    def _choose(self, choice: str) -> None:
        if choice == NO:
            self._ask_reason()
        elif not self._may_allow:
            return
        elif self._is_ours and choice in _SCOPES and not self._body.all_seen:
            self._edit_rule(choice)  # a rule is never saved unseen
        elif choice == SESSION or (choice == ALWAYS and self._is_ours):
            self.finish({"choice": choice, "rule": self._exact})
        else:
            self.finish({"choice": choice})

    def _edit_rule(self, scope: str) -> None:
        """`scope`: how long it is valid; empty: the user chooses, where there is a choice."""
        scopes = [scope for scope in _SCOPES if scope in self._choices]
        if scopes:
            self._scope = scopes[0] if len(scopes) == 1 else scope
            self._ask_rule(self._rule)

    def _ask_rule(self, text: str, about: str = "", role: str = "muted") -> None:
        how_long = f" {_SCOPES[self._scope].lower()}" if self._scope else ""
        then = "allow" if self._scope else "next"
        self._show_input(about or f"Remember{how_long}:", text, self._take_rule, then, role=role)

    def _take_rule(self, text: str) -> None:
        from sightline.settings import RuleMistake, parse_rule, typed_rule

        shown = text.strip() or (self._doubted if self.drawing.linear else "") or self._rule
        rule = self._exact if shown == self._rule else typed_rule(shown)
        try:
            parse_rule(rule)
        except RuleMistake as mistake:
            return self._ask_rule(shown, clean_line(f"{mistake.message}. {mistake.hint}"), "error")
        if shown != self._doubted and not self._is_enough(rule):
            self._doubted = shown
            return self._ask_rule(shown, _DOES_NOT_FIT, "warning")
        self._given = rule
        return self.finish({"choice": self._scope, "rule": rule}) if self._scope else self._ask_how_long()

    def _is_enough(self, rule: str) -> bool:
        from sightline.settings import allows_alone

        access = access_of(self._details)
        if rule == self._exact or access is None:
            return True
        what, where = str(self._details.get("what") or ""), str(self._details.get("cwd") or "")
        sandboxed = self._details.get("sandboxed") is True
        return allows_alone(rule, access, what, Path(self.drawing.cwd), sandboxed=sandboxed, where=where)

    def _ask_how_long(self) -> None:
        items = [Item(scope, words) for scope, words in _SCOPES.items()]
        self._scopes = self.choices(items, lambda value: self.finish({"choice": value, "rule": self._given}))
        about = self.text(f"How long is {_as_shown(self._given)} allowed?")
        self.show(self._body, about, self._scopes, hints=[("select_confirm", "allow"), ("interrupt", "back")])

    def _ask_reason(self) -> None:
        self._asks_why = True
        self._show_input("Tell the agent why (optional)", "", self._refuse, "refuse")

    def _refuse(self, text: str) -> None:
        reason = text.strip()
        self.finish({"choice": NO, "reason": reason} if reason else {"choice": NO})

    def _show_input(
        self, about: str, text: str, then: Callable[[str], None], meaning: str, *, role: str = "muted"
    ) -> None:
        """In linear mode nothing is edited in place: the text is shown, and an empty line accepts it."""
        linear = self.drawing.linear
        line = TextInput(placeholder=text if linear else "", bindings=self.bindings, theme=self.theme)
        line.set_text("" if linear else text)
        line.on_submit = then
        shown = f"{about} {text}" if linear and text else about
        hints = [("submit", meaning), ("interrupt", "back")]
        self.show(self._body, self.text(shown, role), line, hints=hints)


class _Air(ExactLines):
    """An empty row."""

    def __len__(self) -> int:
        return 1

    def rows(self, index: int, width: int) -> Sequence[str]:
        return ("",)


def _is_rule(text: str) -> bool:
    from sightline.settings import RuleMistake, parse_rule

    try:
        parse_rule(text)
    except RuleMistake:
        return False
    return True


def _as_shown(rule: str) -> str:
    from sightline.settings import shown_rule

    return shown_rule(rule)


def access_of(details: dict[str, object]) -> "Access | None":
    """What kind of access is requested; None: another kind of approval."""
    return next((access for access in DOING if access == details.get("access")), None)


def head(request: dict[str, object], details: dict[str, object], *, comes_first: bool) -> str:
    """The agent, what it is about to do, with which tool, and how much there is to read. Below the command (not
    `comes_first`), in one row, also where."""
    doing = _doing(details)
    about = ", ".join([*_by(details), *_size(details)])
    if not doing:
        return "\n".join(filter(None, (clean_text(str(request.get("text") or "")), about)))
    if comes_first:
        return f"{asker(request)} wants to {doing}{about and f' ({about})'}:"
    place = _where(details)
    return f"{asker(request)} wants to {doing} this{place and f' {place}'}{about and f' ({about})'}"


def warnings(details: dict[str, object]) -> str:
    texts = (clean_text(str(details.get(name) or "")) for name in ("unseen", "about"))
    return "\n".join(f"{words[:1].upper()}{words[1:]}." for words in texts if words)


def where(details: dict[str, object]) -> str:
    """Whether the sandbox, or the folder, holds it."""
    words = _where(details)
    return f"{words[:1].upper()}{words[1:]}" if _doing(details) else ""


def circumstances(details: dict[str, object]) -> str:
    """The folder, and why it needs approval."""
    return "\n".join(_circumstances(details))


def what_lines(details: dict[str, object], theme: Theme) -> list[ExactLines]:
    what = details.get("shown") or details.get("what") or ""
    is_command = details.get("access") == "exec"
    parts: list[ExactLines] = [ExactText(visible(str(what)), "bash" if is_command else "", "strong", theme=theme)]
    diff = details.get("diff")
    if isinstance(diff, str) and diff:
        parts.append(ExactDiff(diff, path=str(what), theme=theme))
    return parts


def other_arguments(details: dict[str, object]) -> str:
    """Arguments that are not shown otherwise."""
    return "\n".join(_other_arguments(details))


def _doing(details: dict[str, object]) -> str:
    access = access_of(details)
    return DOING[access] if access else ""


def _size(details: dict[str, object]) -> Iterator[str]:
    """Of a change, or of a command too long to be read at a glance."""
    diff, what = details.get("diff"), str(details.get("shown") or details.get("what") or "")
    if isinstance(diff, str) and diff:
        yield f"{_change(diff, details)}, {_bytes(_added(diff))}"
    elif details.get("access") == "exec" and ("\n" in what or len(what) > _SIZED_FROM):
        yield f"{_lines(what)}, {_bytes(what)}"


def _change(diff: str, details: dict[str, object]) -> str:
    added, removed = details.get("added"), details.get("removed")
    if not isinstance(added, int) or not isinstance(removed, int):
        return _lines(diff)
    if diff.startswith("--- /dev/null\n") and not removed:
        return f"new file, {_counted(added)}"
    return f"{_counted(added)} added, {removed:,} removed"


def _added(diff: str) -> str:
    """The added lines of a diff, without their marks; the last one as it ends."""
    rows = diff.split("\n")
    marked = [at for at, row in enumerate(rows) if row.startswith("+") and not _is_header(rows, at)]
    return "".join(rows[at][1:] + ("" if rows[at + 1 : at + 2] == [_NO_NEWLINE] else "\n") for at in marked)


def _is_header(rows: list[str], at: int) -> bool:
    return rows[at].startswith("+++ ") and at > 0 and rows[at - 1].startswith("--- ")


def _lines(text: str) -> str:
    return _counted(text.removesuffix("\n").count("\n") + 1)


def _counted(count: int) -> str:
    return f"{count:,} line{'s' * (count != 1)}"


def _bytes(text: str) -> str:
    size = len(text.encode("utf-8", "replace"))
    return f"{size:,} byte{'s' * (size != 1)}" if size < 1024 else f"{size / 1024:,.0f} KB"


def _circumstances(details: dict[str, object]) -> Iterator[str]:
    place = _where(details)
    passed = details.get("passed")
    if isinstance(passed, list) and passed:
        yield f"gets: {clean_line(', '.join(map(str, passed)))} (permissions.pass_env)"
    if details.get("cwd"):
        yield f"folder: {clean_line(str(details['cwd']))}"
    why = clean_line(str(details.get("why") or ""))
    if why and not (place and place in why):
        yield f"why: {why}"


def _where(details: dict[str, object]) -> str:
    """Empty where that is not known. A reason that names the place stands for it."""
    if details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool):
        return "in the sandbox" if details["sandboxed"] else "outside the sandbox"
    why = clean_line(str(details.get("why") or ""))
    return why if details.get("outside") is True else ""


def _by(details: dict[str, object]) -> Iterator[str]:
    tool, access = clean_line(str(details.get("tool") or "")), access_of(details)
    if tool and access and (access, tool.lower()) not in _OBVIOUS:
        yield tool


def _other_arguments(details: dict[str, object]) -> Iterator[str]:
    args, has_diff = details.get("args"), bool(details.get("diff"))
    known = (details.get("what"), details.get("shown"))
    for name, value in args.items() if isinstance(args, dict) else ():
        if value in known or (has_diff and name in _SHOWN_ELSEWHERE) or _is_in_head(name, details):
            continue
        text = value if isinstance(value, str) else _json(value)
        yield visible(f"{name}: {text}")


def _is_in_head(name: str, details: dict[str, object]) -> bool:
    """Whether an argument is in the head already, in words."""
    if name == "sandbox":
        return details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool)
    return name == "cwd" and bool(details.get("cwd"))


def _json(value: object) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()


def paragraphs(text: str, role: str | None, theme: Theme) -> list[ExactLines]:
    return [Paragraphs(text, role, theme=theme)] if text else []
