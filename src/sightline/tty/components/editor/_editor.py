"""The editor a prompt is written in.

Rows: a rule, the text (at most `max_rows`, scrolling inside), a rule, and the completions when there are any. Enter
submits; shift+enter, alt+enter, ctrl+j and a backslash before enter break the line. Up on the first row and down on
the last go through history, ctrl+r searches it. A large paste is folded to a marker that is one character to every key,
and is unfolded whenever the text leaves the editor.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from sightline.text import clean_line
from sightline.tty._component import Component, Input, Rows
from sightline.tty.components.editor._clusters import MARKER
from sightline.tty.components.editor._completion import CompletionProvider, CompletionRequest
from sightline.tty.components.editor._editing import DO, Editing
from sightline.tty.components.editor._external import Run, edit_externally
from sightline.tty.components.editor._history import EditorHistory, HistorySearch
from sightline.tty.components.editor._layout import EditorLayout
from sightline.tty.components.editor._pastes import Pastes, clean_paste
from sightline.tty.components.editor._popup import Popup
from sightline.tty.components.editor._view import EditorLook, View
from sightline.tty.components.editor.vim._vim import Vim
from sightline.tty.frame._scheduler import CallLater
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import PLAIN, Theme

_HIDDEN_IN_REQUESTS = "\ufffc"


class Editor(Component):
    """Several lines of text, a cursor, and everything keys do to them.

    Set what is to be called: `on_submit(text)` on enter, the editor being empty again already; `on_change(text)` after
    each change; `on_escape()`; `on_external_editor()` on its key. A key without its callback means nothing here, but
    for `on_history_search()`: without it, history is searched in the upper rule.
    """

    on_submit: Callable[[str], None] | None = None
    on_change: Callable[[str], None] | None = None
    on_escape: Callable[[], None] | None = None
    on_external_editor: Callable[[], None] | None = None
    on_history_search: Callable[[], None] | None = None
    request_render: Callable[[], None] | None = None  # called when rows changed without a key: completions came in
    border_role = "border"
    title = ""  # A label in the upper rule

    def __init__(
        self,
        *,
        bindings: Bindings | None = None,
        max_rows: int = 12,
        placeholder: str = "",
        history: Sequence[str] = (),
        providers: Sequence[CompletionProvider] = (),
        call_later: CallLater | None = None,
        keymap: Literal["emacs", "vim"] = "emacs",
        theme: Theme = PLAIN,
    ) -> None:
        self._bindings = bindings or Bindings()
        self._placeholder = clean_line(placeholder)
        self._editing = Editing()
        self._buffer = self._editing.buffer
        self._pastes = Pastes()
        self._history = EditorHistory(history)
        self._search = HistorySearch(self._history, self._bindings)
        self._layout = EditorLayout(self._buffer, self._pastes.label)
        self._view = View(theme, self._buffer, self._layout, max_rows)
        self._popup = Popup(theme, self._bindings, providers, call_later, self._changed_late)
        self._vim = Vim(self._buffer, self._layout, self._react) if keymap == "vim" else None
        self._recalled = ""
        self._state: object = None
        self._rows: tuple[str, ...] = ()
        self._popup_rows: Rows = ()

    @property
    def text(self) -> str:
        """The text as it would be submitted."""
        return self._pastes.unfold(self._buffer.text)

    @property
    def cursor(self) -> tuple[int, int]:
        """Line, and character in it; a folded paste is one character."""
        return self._buffer.cursor

    @property
    def history(self) -> list[str]:
        """What was submitted, oldest first: to keep, and to hand in again."""
        return self._history.entries

    @property
    def completing(self) -> bool:
        return self._popup.is_open

    @property
    def enter_submits(self) -> bool:
        """Whether enter on what is offered also submits the text."""
        return self._popup.submits

    @property
    def at_end(self) -> bool:
        """Whether nothing is written after the cursor."""
        return self._buffer.cursor == self._buffer.end

    @property
    def mode(self) -> str:
        """Vim's mode; `insert` without vim."""
        return "insert" if self._vim is None else self._vim.mode

    def set_history(self, entries: Sequence[str]) -> None:
        """What was submitted before this editor was there, oldest first."""
        self._history.begin_with(entries)

    def submit(self) -> None:
        """Hand the text in, as its key does."""
        self._popup.close()
        self._search.close()
        self._submit()

    def set_text(self, text: str) -> None:
        """Another text, with the cursor at its end. It can be taken back."""
        self._popup.close()
        self._search.close()
        self._history.leave()
        self._editing.settle()
        self._buffer.set_text(clean_paste(text))

    def insert(self, text: str) -> None:
        """Put text at the cursor, as if pasted but never folded."""
        self._editing.paste(clean_paste(text))

    def open_external(self, command: str, run: Run) -> bool:
        """Let a program (`$VISUAL`, `$EDITOR`) edit the text. False when it ended with an error: the text stays."""
        text = self.text
        edited = edit_externally(text, command, run)
        if edited is not None and edited != text:
            self.set_text(edited)
            self._notify_change()
        return edited is not None

    def handle_input(self, event: Input) -> bool:
        if isinstance(event, Key) and event.kind == "release":
            return False
        if self._popup.is_open and isinstance(event, Key) and self._handle_popup(event):
            return True
        if self._search.is_open:
            return self._handle_search(event)
        version, cursor = self._buffer.version, self._buffer.cursor
        known = self._react(event)
        if self._buffer.version != version:
            self._notify_change()
            self._offer()
        elif self._buffer.cursor != cursor:
            self._popup.close()
        return known

    def render(self, width: int) -> Rows:
        width = max(0, width)
        popup = self._popup.render(width)
        look = self._look()
        state = (width, self._buffer.version, self._buffer.cursor, look)
        if state != self._state or popup is not self._popup_rows:
            self._state, self._popup_rows = state, popup
            self._rows = (*self._view.draw(width, look), *popup)
        return self._rows

    def invalidate(self) -> None:
        self._state = None
        self._popup.invalidate()

    def dispose(self) -> None:
        self._popup.close()

    def _look(self) -> EditorLook:
        return EditorLook(
            title=self._search.title if self._search.is_open else clean_line(self.title),
            mode="" if self._vim is None else self._vim.mode.upper(),
            border_role=self.border_role,
            placeholder=self._placeholder,
            focused=self.focused,
            selection=None if self._vim is None else self._vim.selection,
        )

    def _handle_popup(self, event: Key) -> bool:
        matches = self._bindings.matches
        if matches(event, "complete") or matches(event, "submit"):
            self._accept(entering=not matches(event, "complete"))
        elif matches(event, "complete_cancel"):
            self._popup.close()
        elif matches(event, "select_up"):
            self._popup.move(-1)
        elif matches(event, "select_down"):
            self._popup.move(1)
        else:
            return False
        return True

    def _handle_search(self, event: Input) -> bool:
        if self._bindings.matches(event, "interrupt"):
            self._search.close()
        elif self._bindings.matches(event, "submit"):
            if (found := self._search.take()) is not None:
                self._editing.settle()
                self._history.leave()
                self._buffer.set_text(self._folded_as_before(found))
                self._notify_change()
        else:
            return self._search.handle(event)
        return True

    def _open_search(self) -> bool | None:
        if self.mode != "insert":
            return None
        self._popup.close()
        if self.on_history_search is None:
            self._search.open()
        else:
            self.on_history_search()
        return True

    def _folded_as_before(self, entry: str) -> str:
        return self._pastes.refold(clean_paste(entry), self._history.folded_in(entry))

    def _offer(self) -> None:
        """Completions for what was written; an old text that is looked at is no beginning of anything."""
        if self._history.browsing:
            self._popup.close()
        elif self._popup.has_providers:
            self._popup.typed(self._request())

    def _accept(self, *, entering: bool = False) -> None:
        """Enter on what is written there already means the text."""
        submits = entering and self._popup.submits
        accepted = self._popup.accept()
        if accepted is None:
            return
        start, item = accepted
        value = clean_paste(item.value)
        line, column = self._buffer.cursor
        if entering and self._buffer.line[start:column] == value.rstrip():
            self._submit()
            return
        self._editing.settle()
        self._buffer.replace((line, start), self._buffer.cursor, value)
        self._notify_change()
        if submits:
            self._submit()
        elif value.endswith("/"):
            self._popup.ask(self._request())  # a folder is the beginning of a path

    def _react(self, event: Input) -> bool:
        if self._vim is not None and self._vim.handle(event):
            self._editing.settle()
            return True
        if isinstance(event, Paste):
            self._editing.paste(self._pastes.fold(clean_paste(event.text)))
            return True
        for action, act in _ACTIONS.items():
            if self._bindings.matches(event, action) and (known := act(self)) is not None:
                return known
        if self.mode != "insert":
            return self._move_only(event)
        action = next((name for name in DO if self._bindings.matches(event, name)), "")
        if action == "delete_forward" and self._buffer.lines == [""]:
            return False  # with nothing to delete the key is free for the application
        if action:
            self._editing.do(action)
            return True
        return self._type(event)

    def _move_only(self, event: Key) -> bool:
        """Keys that are no letters, while letters are commands: they move, and change nothing."""
        action = next((name for name in DO if self._bindings.matches(event, name)), "")
        action = "cursor_left" if action == "delete_back" else action
        if action.startswith("cursor_"):
            self._editing.do(action)
        return bool(action)

    def _type(self, event: Key) -> bool:
        typed = clean_paste(event.text)
        if typed:
            self._editing.type(typed)
        return bool(typed)

    def _submit(self) -> bool:
        line, column = self._buffer.cursor
        if self.mode == "insert" and self._buffer.line[:column].endswith("\\"):
            self._editing.settle()
            self._buffer.replace((line, column - 1), (line, column), "\n")
            return True
        if self.on_submit is None:
            return False
        text = self.text
        self._history.add(text, self._pastes.folded_in(self._buffer.text))
        self._buffer.forget()
        self._editing.settle()
        registers = [] if self._vim is None else [self._vim.changes.register]
        self._pastes.forget_unless_in([*self._editing.ring.texts(), *registers])
        if self._vim is not None:
            self._vim.reset()
        self.on_submit(text)
        return True

    def _newline(self) -> bool:
        self._editing.paste("\n")
        return True

    def _vertical(self, step: int) -> bool:
        self._editing.settle()
        position = self._layout.vertical(step)
        if position is not None:
            self._buffer.move(position, keep_goal=True)
            return True
        return self._recall(step)

    def _page(self, step: int) -> bool:
        self._editing.settle()
        for _ in range(self._view.page):
            position = self._layout.vertical(step)
            if position is None:
                break
            self._buffer.move(position, keep_goal=True)
        return True

    def _recall(self, step: int) -> bool:
        """An older text (-1) or a newer one (1). One that was changed meanwhile is a draft like any other."""
        self._editing.settle()
        if self._history.browsing and self._buffer.text != self._recalled:
            self._history.leave()
        entry = self._history.previous(self._buffer.text) if step < 0 else self._history.next()
        if entry is None:
            return True
        # The draft is our own text, markers included; an entry came from outside.
        self._recalled = self._folded_as_before(entry) if self._history.browsing else entry
        self._buffer.set_text(self._recalled)
        if step < 0:
            self._buffer.move((0, len(self._buffer.lines[0])))
        return True

    def _complete(self) -> bool | None:
        if self.mode != "insert":
            return None
        self._popup.ask(self._request(explicit=True))
        if self._popup.is_open and self._popup.only_one:
            self._accept()
        return True if self._popup.is_open else None

    def _escape(self) -> bool | None:
        if self._vim is not None and self._vim.escape():
            return True
        if self.on_escape is None:
            return None
        self.on_escape()
        return True

    def _external(self) -> bool | None:
        if self.on_external_editor is None:
            return None
        self.on_external_editor()
        return True

    def _request(self, *, explicit: bool = False) -> CompletionRequest:
        line, column = self._buffer.cursor
        before = MARKER.sub(_HIDDEN_IN_REQUESTS, self._buffer.line[:column])
        return CompletionRequest(before, line, explicit)

    def _notify_change(self) -> None:
        if self.on_change is not None:
            self.on_change(self.text)

    def _changed_late(self) -> None:
        if self.request_render is not None:
            self.request_render()


_ACTIONS: dict[str, Callable[[Editor], bool | None]] = {
    "newline": Editor._newline,
    "submit": Editor._submit,
    "cursor_up": lambda editor: editor._vertical(-1),
    "cursor_down": lambda editor: editor._vertical(1),
    "cursor_page_up": lambda editor: editor._page(-1),
    "cursor_page_down": lambda editor: editor._page(1),
    "history_prev": lambda editor: editor._recall(-1),
    "history_next": lambda editor: editor._recall(1),
    "history_search": Editor._open_search,
    "complete": Editor._complete,
    "vim_normal": Editor._escape,
    "external_editor": Editor._external,
}
