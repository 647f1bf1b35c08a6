"""May this be done? Everything there is to know about it, and four answers.

Rules:

- Shown are, each once: who asks (agent and tool), all of the command or what would change, the folder, whether the
  sandbox holds it, why it has to be asked, the other arguments of the call, and the rule an answer for longer would
  become.
- Nothing is allowed unseen. Where rows are few, the command or the change comes first; where not even three rows of it
  fit above the answers, only no is one.
- "Always here" saves a rule, and shows it first: it can be changed, and one that cannot be read is not taken. One that
  was changed so that it does not allow what is asked is taken when it is entered a second time. A rule in another
  program's language is that program's to save: it is shown, and taken as it is.
- "No" may have a reason; the model hears it. Escape and Ctrl+C are a step back; from the choices they close the dialog
  unanswered, which is never a yes.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sightline.text import clean_line
from sightline.tty import Component, Input, Key, Rows
from sightline.tty.components import Container, Diff, Item, SelectList, Text
from sightline.tty.components import Input as TextInput
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._approval_facts import DOING, head_lines, main_part, other_arguments
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, Pane, usual_height

ONCE, SESSION, ALWAYS, NO = "once", "this session", "always here", "no"

_LABELS = {ONCE: "Yes, this once", SESSION: "Yes, for this session", ALWAYS: "Yes, always here", NO: "No"}
_KEYS_FROM = 32  # columns: with less, the words of a choice alone fit
_SCOPES = {SESSION: "While this session lasts", ALWAYS: "In this folder from now on"}
_ACTIONS = {ONCE: "approve_once", SESSION: "approve_session", ALWAYS: "approve_always", NO: "approve_no"}
_SEEN_AT_LEAST = 3
_DOES_NOT_FIT = (
    "This rule by itself does not allow what is asked: it would be done now, and asked again the next time. "
    "Enter it once more to have it so."
)
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
        self._rule = _as_shown(self._exact)
        self._is_ours = bool(self._rule) and _is_rule(self._exact)
        self._wanted = ""
        """How long a changed rule is to hold; empty: that is asked."""
        self._doubted = ""
        """The rule they were told of that it does not allow this."""
        self._given = ""
        self._scopes: SelectList | None = None
        self._what_first = False
        self._parts = Container(self._in_order(what_first=False))
        self._body = Pane(self._parts, drawing)
        self._width = 0
        self._too_low = self._asks_why = self._has_keys = False
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
        said = self._request.get("choices")
        return [str(choice) for choice in said] if isinstance(said, list) and said else [ONCE, NO]

    def _items(self) -> Iterator[Item]:
        for choice in self._choices:
            key = next(iter(self.bindings.keys(_ACTIONS.get(choice, ""))), "") if self._has_keys else ""
            if choice == NO or not self._too_low:
                yield Item(choice, _LABELS.get(choice, choice) + (f" ({key})" if key else ""))

    def _in_order(self, *, what_first: bool) -> list[Component]:
        """What there is to know."""
        about = Text("\n".join(head_lines(self._request, self._details)), theme=self.theme)
        what: list[Component] = [main_part(self._details, self.drawing)]
        diff = self._details.get("diff")
        if isinstance(diff, str) and diff:
            what.append(Diff(diff, theme=self.theme))
        rest = "\n".join(other_arguments(self._details, has_diff=bool(diff)))
        others: list[Component] = [Text(rest, "muted", theme=self.theme)] if rest else []
        if self._rule:
            others.append(Text(f"as a rule{self._way_to_change()}: {self._rule}", "muted", theme=self.theme))
        return [*what, about, *others] if what_first else [about, *what, *others]

    def _way_to_change(self) -> str:
        key = next(iter(self.bindings.keys("approve_rule")), "")
        return f" ({key} changes it)" if key and self._is_ours else ""

    def _fit(self) -> None:
        """Make the best of the rows there are."""
        if self.is_small != self._what_first:
            self._what_first = self.is_small
            self._parts.children = self._in_order(what_first=self._what_first)
        too_low = self.is_small and self._hides_what()
        has_keys = self._width >= _KEYS_FROM and not self.drawing.linear
        if too_low == self._too_low and has_keys == self._has_keys:
            return
        was_too_low, self._too_low, self._has_keys = self._too_low, too_low, has_keys
        self._renew_items()
        if too_low != was_too_low and not self._asks_why:
            self._show_choices()

    def _renew_items(self) -> None:
        marked = self._list.highlighted
        self._list.set_items(self._items())
        values = [item.value for item in self._list.matching]
        if marked is not None and marked.value in values:
            self._list.move(values.index(marked.value))

    def _hides_what(self) -> bool:
        needed = len(self._parts.render(max(self._width - 2, 1)))
        room = self.rows - len(self._choices)
        return room < needed and room <= _SEEN_AT_LEAST  # a row says that there is more

    def _show_choices(self) -> None:
        self._asks_why = False
        if self._too_low:
            warning = Text(_TOO_LOW, "warning", theme=self.theme)
            return self.show(warning, self._list, hints=[("approve_no", NO)])
        return self.show(self._body, self._list, hints=[("select_confirm", "choose"), ("interrupt", "no")])

    def _choose(self, choice: str) -> None:
        if choice == NO:
            self._ask_reason()
        elif self._too_low:
            return
        elif choice == ALWAYS and self._is_ours:
            self._edit_rule(ALWAYS)
        else:
            self.finish({"choice": choice, "rule": self._exact} if choice == SESSION else {"choice": choice})

    def _edit_rule(self, wanted: str) -> None:
        """`wanted`: how long it is to hold; empty: they are asked, where there is a choice."""
        scopes = [scope for scope in _SCOPES if scope in self._choices]
        if scopes:
            self._wanted = scopes[0] if len(scopes) == 1 else wanted
            self._ask_rule(self._rule)

    def _ask_rule(self, text: str, about: str = "", role: str = "muted") -> None:
        how_long = f" {_SCOPES[self._wanted].lower()}" if self._wanted else ""
        self._show_input(about or f"Allowed{how_long}:", text, self._take_rule, "allow this", role=role)

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
        return self.finish({"choice": self._wanted, "rule": rule}) if self._wanted else self._ask_how_long()

    def _is_enough(self, rule: str) -> bool:
        from sightline.settings import allows_alone

        access = self._details.get("access")
        if rule == self._exact or access not in DOING:
            return True
        what, where = str(self._details.get("what") or ""), str(self._details.get("cwd") or "")
        sandboxed = self._details.get("sandboxed") is True
        return allows_alone(rule, access, what, Path(self.drawing.cwd), sandboxed=sandboxed, where=where)

    def _ask_how_long(self) -> None:
        items = [Item(scope, words) for scope, words in _SCOPES.items()]
        self._scopes = SelectList(items, bindings=self.bindings, theme=self.theme)
        self._scopes.on_select = lambda item: self.finish({"choice": item.value, "rule": self._given})
        self._scopes.on_cancel = self.cancel
        about = Text(f"{_as_shown(self._given)} is allowed:", theme=self.theme)
        self.show(self._body, about, self._scopes, hints=[("select_confirm", "allow this"), ("interrupt", "back")])

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


def _as_shown(rule: str) -> str:
    from sightline.settings import shown_rule

    return shown_rule(rule)
