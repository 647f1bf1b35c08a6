"""The user interface of extensions: the host's half. A console, or the page, is the other half.

Rules:

- `has_ui` is true while a user is there who can answer. Without, every dialog returns None at once and what is shown is
  stored for the next viewer; nothing raises.
- A dialog is a `request` (`what` is `dialog`, `details.ui.kind` says which), answered by a command, once. The answer is
  the value itself or `{"value": …}`; one that does not fit the dialog counts as None, as does closing it.
- A dialog that is open when the user leaves stays open. One whose call is cancelled is closed.
- What stays on the screen is a `state`, always all of it: `ui.status`, `ui.widgets`, `ui.title`; a key is the
  extension's own, whatever others call theirs. `ui.editor_text` is an order: a view that attaches later ignores it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from sightline.events import EditorTextState, ExtensionWidget, Notice, StatusTextsState, TitleState, WidgetsState
from sightline.text import clean_line, clean_text

if TYPE_CHECKING:
    from sightline.actors import Actor
    from sightline.agent.loop._requests import UserRequests
    from sightline.secrets import Secrets

Placement = Literal["above", "below"]
Level = Literal["info", "warning", "error"]

_LINES_AT_MOST = 50
_LINE_AT_MOST = 1000
_KEYS_AT_MOST = 50


class ExtensionWidgets:
    """What the extensions of one session show, by key."""

    def __init__(self, actor: "Actor") -> None:
        self._actor = actor
        self._status: dict[str, str] = {}
        self._widgets: dict[str, ExtensionWidget] = {}

    def status(self, key: str, text: str | None) -> None:
        if _changed(self._status, key, text):
            self._actor.publish(StatusTextsState(self._status).as_state())

    def widget(self, key: str, widget: ExtensionWidget | None) -> None:
        if _changed(self._widgets, key, widget):
            self._actor.publish(WidgetsState(self._widgets).as_state())

    def title(self, text: str) -> None:
        self._actor.publish(TitleState(text).as_state())

    def editor_text(self, text: str) -> None:
        """Numbered, so that the same text twice is two orders."""
        self._actor.publish(EditorTextState(self._actor.log.seq + 1, text).as_state())

    def clear(self) -> None:
        """Remove what an earlier host of the session showed."""
        for nothing in (StatusTextsState({}), WidgetsState({}), TitleState("")):
            self._actor.publish(nothing.as_state())


class ExtensionUi:
    """`extension.ui`: one extension's dialogs and widgets."""

    def __init__(
        self, name: str, actor: "Actor", requests: "UserRequests", secrets: "Secrets", shown: ExtensionWidgets
    ) -> None:
        self._name = name
        self._actor = actor
        self._requests = requests
        self._secrets = secrets
        self._shown = shown

    @property
    def has_ui(self) -> bool:
        """Whether a user is there who can answer."""
        return self._actor.log.is_attended

    def notify(self, text: str, level: Level = "info") -> None:
        """Show a notice in the transcript."""
        self._actor.observed_by(self._name).publish(Notice(text, "info" if level == "info" else "warning"))

    async def select(self, title: str, choices: Sequence[str], message: str = "") -> str | None:
        """One of these texts."""
        meant = {self._line(choice): choice for choice in choices}
        answer = await self._ask("select", title, list(meant), {"message": message})
        return meant.get(answer) if isinstance(answer, str) else None

    async def confirm(self, title: str, message: str = "") -> bool | None:
        """Yes or no."""
        answer = await self._ask("confirm", title, ["yes", "no"], {"message": message})
        return answer if isinstance(answer, bool) else {"yes": True, "no": False}.get(str(answer))

    async def input(self, title: str, *, text: str = "", placeholder: str = "", message: str = "") -> str | None:
        """One line; `text` is there already, `placeholder` only while there is nothing."""
        fields = {"message": message, "text": text, "placeholder": placeholder}
        answer = await self._ask("input", title, [], fields)
        return answer if isinstance(answer, str) else None

    async def editor(self, title: str, text: str = "", message: str = "") -> str | None:
        """A text of many lines."""
        answer = await self._ask("editor", title, [], {"message": message, "text": text})
        return answer if isinstance(answer, str) else None

    async def custom(self, name: str, props: object = None, *, overlay: bool = False, title: str = "") -> Any:
        """A component of this extension's own, which its `console` half registered under this name. `props` and the
        answer are plain data. In place of the editor, or over the screen."""
        fields = {"name": name, "props": msgspec.to_builtins(props, str_keys=True), "overlay": overlay}
        return await self._ask("custom", title or name, [], fields)

    def set_status(self, key: str, text: str | None) -> None:
        """A short text in the status line, until it is replaced; None removes it."""
        self._shown.status(self._key(key), None if text is None else self._line(text))

    def set_widget(self, key: str, lines: Sequence[str] | None, placement: Placement = "above") -> None:
        """Lines above or below the editor, until they are replaced; None removes them."""
        if placement not in ("above", "below"):
            raise ValueError(f"no placement {placement!r}: use above or below")
        widget = None
        if lines is not None:
            widget = ExtensionWidget([self._line(line) for line in list(lines)[:_LINES_AT_MOST]], placement)
        self._shown.widget(self._key(key), widget)

    def set_title(self, text: str) -> None:
        """The name of the terminal's window; an empty one restores it."""
        self._shown.title(self._line(text))

    def set_editor_text(self, text: str) -> None:
        """The text in the editor of every current viewer."""
        self._shown.editor_text(clean_text(self._secrets.masked(text)))

    async def _ask(self, kind: str, title: str, choices: list[str], fields: dict[str, Any]) -> Any:
        if not self.has_ui:
            return None
        details = {"ui": {"kind": kind}, "extension": self._name, **fields}
        return _value(await self._requests.ask("dialog", clean_line(title), choices, details))

    def _key(self, key: str) -> str:
        return f"{self._name}.{clean_line(str(key))}"

    def _line(self, text: str) -> str:
        return clean_line(self._secrets.masked(str(text)))[:_LINE_AT_MOST]


def _value(answer: object) -> object:
    return answer["value"] if isinstance(answer, dict) and answer.keys() == {"value"} else answer


def _changed(shown: dict[str, Any], key: str, value: Any) -> bool:
    """Whether there is anything new to publish. Keys beyond the cap are ignored."""
    if value is None:
        return shown.pop(key, None) is not None
    if shown.get(key) == value or (key not in shown and len(shown) >= _KEYS_AT_MOST):
        return False
    shown[key] = value
    return True
