"""May this be done? Everything there is to know about it, and four answers.

Rules:

- Shown are who asks (agent and tool), all of the command or what would change, the folder, whether the sandbox holds
  it, why it has to be asked, the other arguments of the call, and the rule an answer for longer would become.
- Nothing is allowed unseen. Where rows are few, the command or the change comes first; where not even three rows of it
  fit above the answers, only no is one.
- "Always here" saves a rule, and shows it first: it can be changed, and one that cannot be read is not taken. A rule in
  another program's language is that program's to save: it is shown, and taken as it is.
- "No" may have a reason; the model hears it. Escape and Ctrl+C are a step back; from the choices they close the dialog
  unanswered, which is never a yes.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sightline.text import clean_line, clean_text
from sightline.tty import Component, Input, Key, Rows
from sightline.tty.components import Code, Container, Diff, Item, SelectList, Text
from sightline.tty.components import Input as TextInput
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._asker import asker
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, Pane, usual_height

ONCE, SESSION, ALWAYS, NO = "once", "this session", "always here", "no"

_LABELS = {ONCE: "Yes, this once", SESSION: "Yes, for this session", ALWAYS: "Yes, always here", NO: "No"}
_ACTIONS = {ONCE: "approve_once", SESSION: "approve_session", ALWAYS: "approve_always", NO: "approve_no"}
_SHOWN_ELSEWHERE = ("input", "content", "path")  # where there is a diff
_VALUE_AT_MOST = 20_000
_SEEN_AT_LEAST = 3
_TOO_LOW = "Allow this? Make the window larger to answer."


class ApprovalDialog(Dialog):
    """Answers `{"choice": …, "rule": …, "reason": …}`; None when it was closed."""

    def __init__(self, request: dict[str, Any], drawing: Drawing, height: Height = usual_height) -> None:
        super().__init__("Allow this?", drawing, height, role="warning")
        details = request.get("details")
        self._details: dict[str, Any] = details if isinstance(details, dict) else {}
        self._request = request
        self._exact = str(self._details.get("rule") or "")
        """The asker's own, which may have several lines; as one line it would be the rule of another command."""
        self._rule = clean_line(self._exact)
        self._is_ours = bool(self._rule) and _is_rule(self._rule)
        self._wanted = ALWAYS
        self._what_first = False
        self._parts = Container(self._in_order(what_first=False))
        self._body = Pane(self._parts, drawing)
        self._width = 0
        self._too_low = self._asks_why = False
        self._list = SelectList(self._items(), max_rows=6, bindings=self.bindings, theme=self.theme)
        self._list.on_select = lambda item: self._choose(item.value)
        self._list.on_cancel = self.cancel
        self._show_choices()

    def render(self, width: int) -> Rows:
        self._width = width
        self._fit()
        return super().render(width)

    def handle_input(self, event: Input) -> bool:
        if not self.drawing.linear:
            if not self._width:
                return False  # nobody has seen it yet
            self._fit()
        if self._list in self.children and isinstance(event, Key):
            for choice, action in _ACTIONS.items():
                if choice in self._choices and self.bindings.matches(event, action):
                    self._choose(choice)
                    return True
            if self._is_ours and not self._too_low and self.bindings.matches(event, "approve_rule"):
                self._edit_rule(self._list.highlighted)
                return True
        return super().handle_input(event)

    def cancel(self) -> None:
        if self._list in self.children:
            self.finish(None)
        else:
            self._show_choices()

    @property
    def _choices(self) -> list[str]:
        said = self._request.get("choices")
        return [str(choice) for choice in said] if isinstance(said, list) and said else [ONCE, NO]

    def _items(self) -> Iterator[Item]:
        for choice in self._choices:
            about = {SESSION: self._rule, ALWAYS: self._rule, NO: "and say why, if you like"}.get(choice, "")
            yield Item(choice, _LABELS.get(choice, choice), about)

    def _in_order(self, *, what_first: bool) -> list[Component]:
        """What there is to know."""
        about = Text("\n".join(_head(self._request, self._details)), theme=self.theme)
        what: list[Component] = [_main(self._details, self.drawing)]
        diff = self._details.get("diff")
        if isinstance(diff, str) and diff:
            what.append(Diff(diff, theme=self.theme))
        rest = "\n".join(_other_arguments(self._details, has_diff=bool(diff)))
        others: list[Component] = [Text(rest, "muted", theme=self.theme)] if rest else []
        if self._rule:
            others.append(Text(f"as a rule: {self._rule}", "muted", theme=self.theme))
        return [*what, about, *others] if what_first else [about, *what, *others]

    def _fit(self) -> None:
        """Make the best of the rows there are."""
        if self.is_small != self._what_first:
            self._what_first = self.is_small
            self._parts.children = self._in_order(what_first=self._what_first)
        too_low = self.is_small and self._hides_what()
        if too_low != self._too_low:
            self._too_low = too_low
            self._list.set_items(item for item in self._items() if item.value == NO or not too_low)
            if not self._asks_why:
                self._show_choices()

    def _hides_what(self) -> bool:
        needed = len(self._parts.render(max(self._width - 2, 1)))
        room = self.rows - len(self._choices)
        return room < needed and room <= _SEEN_AT_LEAST  # a row says that there is more

    def _show_choices(self) -> None:
        self._asks_why = False
        if self._too_low:
            warning = Text(_TOO_LOW, "warning", theme=self.theme)
            return self.show(warning, self._list, hints=[("approve_no", NO)])
        hints = [("select_confirm", "choose"), *((_ACTIONS[c], c) for c in self._choices if c in _ACTIONS)]
        if self._is_ours:
            hints.append(("approve_rule", "change the rule"))
        return self.show(self._body, self._list, hints=hints)

    def _choose(self, choice: str) -> None:
        if choice == NO:
            self._ask_reason()
        elif self._too_low:
            return
        elif choice == ALWAYS and self._is_ours:
            self._edit_rule(None)
        else:
            self.finish({"choice": choice, "rule": self._exact} if choice == SESSION else {"choice": choice})

    def _edit_rule(self, highlighted: Item | None) -> None:
        """For as long as was highlighted; otherwise always."""
        self._wanted = SESSION if highlighted is not None and highlighted.value == SESSION else ALWAYS
        if self._wanted not in self._choices:
            self._wanted = SESSION
        how_long = "in this folder from now on" if self._wanted == ALWAYS else "while this session lasts"
        self._show_input(f"Allowed {how_long}:", self._rule, self._take_rule, "allow this")

    def _take_rule(self, text: str) -> None:
        from sightline.settings import RuleMistake, parse_rule

        rule = text.strip() or self._rule
        try:
            parse_rule(rule)
        except RuleMistake as mistake:
            about = clean_line(f"{mistake.message}. {mistake.hint}")
            return self._show_input(about, rule, self._take_rule, "allow this", role="error")
        return self.finish({"choice": self._wanted, "rule": rule if rule != self._rule else self._exact})

    def _ask_reason(self) -> None:
        self._asks_why = True
        self._show_input("Why not? The model is told.", "", self._refuse, "no")

    def _refuse(self, text: str) -> None:
        reason = text.strip()
        self.finish({"choice": NO, "reason": reason} if reason else {"choice": NO})

    def _show_input(
        self, about: str, text: str, then: Callable[[str], None], meaning: str, *, role: str = "muted"
    ) -> None:
        """On lines there is nothing to change in place: what is there is said, and an empty line keeps it."""
        linear = self.drawing.linear
        line = TextInput(placeholder=text if linear else "", bindings=self.bindings, theme=self.theme)
        line.set_text("" if linear else text)
        line.on_submit = then
        shown = f"{about} {text}" if linear and text else about
        hints = [("submit", meaning), ("interrupt", "back")]
        self.show(self._body, Text(shown, role, theme=self.theme), line, hints=hints)


def _is_rule(text: str) -> bool:
    from sightline.settings import RuleMistake, parse_rule

    try:
        parse_rule(text)
    except RuleMistake:
        return False
    return True


def _head(request: dict[str, Any], details: dict[str, Any]) -> Iterator[str]:
    tool = clean_line(str(details.get("tool") or "a tool"))
    doing = {
        "exec": "run a command",
        "network": "use the network",
        "write": "write",
        "read": "read",
    }.get(str(details.get("access")), "")
    if not doing:
        yield clean_text(str(request.get("text") or ""))
    else:
        yield f"{asker(request)}: {tool} wants to {doing}{_where(details)}"
    if details.get("cwd"):
        yield f"folder: {clean_line(str(details['cwd']))}"
    if details.get("why"):
        yield f"why: {clean_line(str(details['why']))}"


def _where(details: dict[str, Any]) -> str:
    if details.get("access") != "exec" or not isinstance(details.get("sandboxed"), bool):
        return ""
    return " in the sandbox" if details["sandboxed"] else " outside the sandbox"


def _main(details: dict[str, Any], drawing: Drawing) -> Component:
    what = str(details.get("what") or "")
    if details.get("access") == "exec":
        return Code(what, "bash", theme=drawing.theme)
    return Text(what, "strong", theme=drawing.theme)


def _other_arguments(details: dict[str, Any], *, has_diff: bool) -> Iterator[str]:
    args = details.get("args")
    for name, value in args.items() if isinstance(args, dict) else ():
        if value == details.get("what") or (has_diff and name in _SHOWN_ELSEWHERE):
            continue
        text = value if isinstance(value, str) else _json(value)
        left_out = len(text) - _VALUE_AT_MOST
        more = f"\n… {left_out} more characters" if left_out > 0 else ""
        yield clean_text(f"{name}: {text[:_VALUE_AT_MOST]}{more}")


def _json(value: Any) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()
