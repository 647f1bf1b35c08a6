"""The editor of the console: prompts for the agent, commands for the shell, Python for the cell.

Empty it looks like this, at 80 columns and without style (`_empty.empty_rows(80)`; roles: `border` for the rules,
`hint` for the text). The cursor is on the first letter of the placeholder, row 1, column 1:

    ────────────────────────────────────────────────────────────────────────────────
     ask anything · / commands · @ files · ! shell · $ Python
    ────────────────────────────────────────────────────────────────────────────────

Typed text takes the place of the placeholder, after the one blank cell. Rows below are completions; attachments are a
row below the upper rule.

- The first character of a text decides its mode (`_submission`); the upper rule shows the mode in words and colour.
- Escape goes to the console first, which may stop something with it; if not, a command in the editor is cleared.
- In linear mode (`drawing.linear`) a whole line is entered at once, in place of what was there: there are no
  completions and no drafts, and a text that is put here to be sent is reported (`offer`).
- No file is read while a key waits: completions, history, drafts and the clipboard are read in the background.
"""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Literal, Protocol

from sightline.text import clean_line
from sightline.tty import CachedComponent, Component, Input, Overlay, Paste, Rows, Theme, measure, truncate
from sightline.tty.components import Editor, Item, Spacer
from sightline.tty.components.editor import CallLater, CompletionRequest, Completions
from sightline.tty.components.editor._completion import Deliver
from sightline.views.console._desk import Answerable, Level
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console._external import editor_command
from sightline.views.console.input._drafts import Drafts, DraftWriter, PromptDraft
from sightline.views.console.input._empty import PLACEHOLDER
from sightline.views.console.input._file_completion import ProjectFileCompletion
from sightline.views.console.input._history import PromptHistory
from sightline.views.console.input._images import MOST, image_file, pasted_images
from sightline.views.console.input._submission import Attachment, Mode, Submission, mode_of, submission

_BORDERS: dict[Mode, str] = {"prompt": "border", "shell": "warning", "python": "info"}
_TITLES: dict[Mode, str] = {"prompt": "", "shell": "shell", "python": "Python"}
_CHIP_HINT, _CHIP_NAME = "backspace removes", 30
_being_named = re.compile(r"/([^\s/]* )?[^\s/]*").fullmatch
_PRIVATE = ", hidden from the model"


class Field(Editor):
    """An editor that calls `on_first` before it handles a key, calls `on_text` after `set_text` too, and draws `above`
    below its upper rule."""

    on_first: Callable[[Input], bool] | None = None
    on_text: Callable[[str], None] | None = None
    above: Component = Spacer(0)
    _parts: tuple[Rows, Rows] = ((), ())
    _joined: Rows = ()

    def handle_input(self, event: Input) -> bool:
        if self.on_first is not None and self.on_first(event):
            return True
        return super().handle_input(event)

    def set_text(self, text: str) -> None:
        super().set_text(text)
        if self.on_text is not None:
            self.on_text(self.text)

    def render(self, width: int) -> Rows:
        rows, above = super().render(width), self.above.render(width)
        if not above:
            return rows
        if rows is not self._parts[0] or above is not self._parts[1]:
            self._parts = (rows, above)
            self._joined = (rows[0], *above, *rows[1:])
        return self._joined

    def contains(self, component: Component) -> bool:
        return component is self or component is self.above

    def invalidate(self) -> None:
        super().invalidate()
        self.above.invalidate()


class Chips(CachedComponent):
    """The row of attachments: `[1 shot.png 120 KB]`. What does not fit is counted."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._attachments: tuple[Attachment, ...] = ()

    def set(self, attachments: tuple[Attachment, ...]) -> None:
        self._attachments = attachments

    def _key(self) -> tuple[object, ...]:
        return self._attachments

    def _draw(self, width: int) -> list[str]:
        """The last chips rather than the first: backspace removes the last one."""
        if not self._attachments:
            return []
        labels = [f"[{number} {_label(one)}]" for number, one in enumerate(self._attachments, 1)]
        shown: list[str] = []
        room = width - 1
        for label in reversed(labels):
            left = len(labels) - len(shown) - 1
            if shown and measure(label) + 1 + (len(f" +{left}") if left else 0) > room:
                break
            shown.insert(0, label)
            room -= measure(label) + 1
        missing = len(labels) - len(shown)
        words = ([f"+{missing}"] if missing else []) + shown
        row = " " + self._theme.style("accent", truncate(" ".join(words), width - 1))
        return [row + (" " + self._theme.style("hint", _CHIP_HINT) if room > len(_CHIP_HINT) else "")]


def _label(attachment: Attachment) -> str:
    return f"{truncate(clean_line(attachment.name), _CHIP_NAME)} {_size_words(attachment.size)}"


def _size_words(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


class CommandCompletion:
    """Completion of `/command` at the beginning of a prompt, and of what a command is given where that is listed with
    it (`/skill NAME`). Commands are read each time: extensions change theirs."""

    def __init__(self, commands: Callable[[], Sequence[tuple[str, str]]]) -> None:
        self._commands = commands

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        named = _being_named(request.before) if request.line == 0 else None
        if named is None:
            deliver(None)
            return
        first = named[1] or ""  # the command that is given something
        items = tuple(
            Item(f"/{name} ", f"/{name}", about)
            for name, about in self._commands()
            if (name.startswith(first) if first else " " not in name)
        )
        if first and (not items or request.before in [item.label for item in items]):
            deliver(None)
            return
        # After the slash alone all commands are equal: the first in the list is a harmless one.
        as_listed, typed = request.before == "/", len(request.before)
        deliver(Completions(items, typed, typed, in_order=as_listed, submits=not first))


class PromptHost(Protocol):
    """What the editor uses of the console."""

    cwd: str

    def spawn(self, work: Coroutine[object, object, object]) -> object: ...

    def report(self, text: str, level: Level = "info", hint: str = "") -> None: ...

    def redraw(self, component: Component | None = None) -> None: ...

    def run_program(self, argv: list[str]) -> int: ...

    async def ask(self, component: Answerable, overlay: Overlay | None = None) -> object: ...

    def enter(self, submission: Submission) -> None:
        """The text was submitted; the editor is empty again."""

    def escape(self) -> bool:
        """Escape was pressed, and the editor does not use it. Returns whether it did something."""

    def commands(self) -> Sequence[tuple[str, str]]:
        """What can be typed after a slash, each with a description: commands, and commands with what they are given."""

    def was_used(self, session: str) -> bool:
        """Whether a session can be resumed: it runs, or has a conversation."""


class PromptEditor:
    """Mount `component`."""

    title = ""
    """In the upper rule while the text is a prompt."""

    def __init__(
        self,
        host: PromptHost,
        drawing: DrawingOptions,
        *,
        history: PromptHistory | None = None,
        keymap: Literal["emacs", "vim"] = "emacs",
        call_later: CallLater | None = None,
    ) -> None:
        self._host = host
        self._drawing = drawing
        self._history = history
        self._chips = Chips(drawing.theme)
        self._attachments: tuple[Attachment, ...] = ()
        self._taking = False
        self._taken: Submission | None = None
        self._draft_writer: DraftWriter | None = None
        self._session: str | None = None
        self._claiming = asyncio.Lock()
        self._reported: set[str] = set()
        files = ProjectFileCompletion(
            lambda: host.cwd, host.spawn, self._report_once, is_enabled=lambda: self.mode == "prompt"
        )
        commands = CommandCompletion(lambda: host.commands())
        self._field = Field(
            bindings=drawing.bindings,
            placeholder=PLACEHOLDER,
            providers=() if drawing.linear else (commands, files),
            call_later=call_later,
            keymap=keymap,
            theme=drawing.theme,
        )
        self._wire(self._field)

    def _wire(self, field: Field) -> None:
        field.above = self._chips
        field.on_first = self._first
        field.on_text = self._changed
        field.on_change = self._changed
        field.on_submit = self._submitted
        field.on_escape = self._escaped
        field.on_external_editor = self.edit_externally
        field.on_history_search = self.search_history
        field.request_render = lambda: self._host.redraw(field)

    @property
    def component(self) -> Component:
        return self._field

    @property
    def text(self) -> str:
        """The text, with the sign of its mode."""
        return self._field.text

    @property
    def mode(self) -> Mode:
        return mode_of(self._field.text)[0]

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return self._attachments

    @property
    def completing(self) -> bool:
        """Whether completions are offered; they use some of the keys."""
        return self._field.completing

    @property
    def enter_takes(self) -> Literal["", "run", "insert"]:
        """What enter does with the offered completion; empty: none is offered."""
        if not self._field.completing:
            return ""
        return "run" if self._field.enter_submits else "insert"

    @property
    def deletes(self) -> bool:
        """Whether there is text after the cursor."""
        return not self._field.at_end

    @property
    def empty(self) -> bool:
        return not self._attachments and not self._field.text

    def set_text(self, text: str) -> None:
        self._field.set_text(text)
        self._host.redraw(self._field)

    def offer(self, text: str) -> None:
        """Put a text into the editor for the user to send. In linear mode it is also reported."""
        self.set_text(text)
        if self._drawing.linear and text.strip():
            self._host.report(f"in the editor: {text}", hint="an empty line sends it, anything else replaces it")

    def insert(self, text: str) -> None:
        """Insert text at the cursor."""
        self._field.insert(text)
        self._changed(self.text)
        self._host.redraw(self._field)

    def clear(self) -> None:
        """Remove the text and the attachments. Undo restores the text."""
        self._attach(())
        self.set_text("")

    def restore(self, *texts: str, attachments: Sequence[Attachment] = ()) -> None:
        """Put unsent texts before the current one."""
        self._attach((*attachments, *self._attachments)[:MOST])
        if unsent := [text for text in texts if text.strip()]:
            self.offer("\n\n".join([*unsent, self.text] if self.text else unsent))
        elif attachments:
            self._changed(self.text)
            self._host.redraw(self._field)

    def take(self) -> Submission | None:
        """Submit as enter does, but return the submission: for other keys that send. None when there is nothing."""
        self._taking, self._taken = True, None
        try:
            self._field.submit()
        finally:
            self._taking = False
        return self._taken

    def attach(self, attachments: Sequence[Attachment]) -> None:
        if len(self._attachments) + len(attachments) > MOST:
            self._host.report(f"a prompt takes at most {MOST} images", "warning", "send some of them first")
            return
        self._attach((*self._attachments, *attachments))
        if self._drawing.linear:
            self._host.report(f"attached: {', '.join(one.name for one in attachments)}", hint="/attach none removes it")
        self._changed(self.text)
        self._host.redraw(self._field)

    def remove_attachment(self) -> None:
        """Remove the last attachment."""
        self._attach(self._attachments[:-1])
        self._changed(self.text)

    def edit_externally(self) -> None:
        """Open the text in the user's own editor. It is unchanged when that fails."""
        command = editor_command(os.environ)
        hint = "set VISUAL or EDITOR to an editor that can be run"
        try:
            saved = self._field.open_external(command, lambda argv: self._host.run_program(list(argv)))
        except (OSError, ValueError) as problem:
            self._host.report(f"cannot edit with {command}: {problem}; the text is unchanged", "error", hint)
        else:
            if not saved:
                self._host.report(f"{command} ended with an error; the text is unchanged", "error", hint)
            elif self._drawing.linear:
                self.offer(self.text)
        self._host.redraw(self._field)

    def search_history(self) -> None:
        self._host.spawn(self._search_history())

    def paste_image(self) -> None:
        """Attach the image on the clipboard."""
        self._host.spawn(self._paste_image())

    async def recall(self) -> None:
        """Load the history, for the keys that recall prompts."""
        if self._history is not None:
            self._field.set_history([entry.text for entry in await asyncio.to_thread(self._history.entries)])

    async def open_draft(self, drafts: Drafts, session: str) -> None:
        """Store the text as the draft of this session from now on, and load its stored draft, before the current text.
        A text that is written when the session changes moves along."""
        if session == self._session or self._drawing.linear:
            return
        if self._draft_writer is not None:
            self._draft_writer.changed(PromptDraft())
        self.close()
        self._draft_writer, self._session = None, session
        async with self._claiming:  # the session may change meanwhile, and change back
            if session == self._session and self._draft_writer is None:
                await self._load_draft(drafts, session)

    async def _load_draft(self, drafts: Drafts, session: str) -> None:
        place = await asyncio.to_thread(drafts.claim, session)
        draft = await asyncio.to_thread(drafts.load, place.name)
        if not draft.text and not draft.attachments:
            draft = await asyncio.to_thread(drafts.take_over, session, self._host.cwd, self._host.was_used)
        files = await asyncio.to_thread(lambda: [image_file(Path(path), name) for path, name in draft.attachments])
        if session != self._session:
            place.release()
            return  # the session changed meanwhile
        self._draft_writer = DraftWriter(drafts, place, self._host.spawn, self._report_once)
        if not self.empty:
            self._changed(self.text)
        self.restore(draft.text, attachments=[one for one in files if one is not None])

    def close(self) -> None:
        """The console ends: store the draft."""
        if self._draft_writer is not None:
            self._draft_writer.flush()

    def _first(self, event: Input) -> bool:
        """Handle keys and pastes that are not for the editor itself."""
        if isinstance(event, Paste):
            images = pasted_images(event.text, self._host.cwd) if self.mode == "prompt" else []
            if images:
                self.attach(images)
            return bool(images)
        matches = self._drawing.bindings.matches
        if matches(event, "paste_image"):
            self.paste_image()
            return True
        if self._attachments and self._field.cursor == (0, 0) and matches(event, "delete_back"):
            self.remove_attachment()
            return True
        return False

    def _changed(self, text: str) -> None:
        mode, private = mode_of(text)
        self._field.border_role = _BORDERS[mode]
        self._field.title = self.title if mode == "prompt" else _TITLES[mode] + (_PRIVATE if private else "")
        if self._draft_writer is not None:
            files = [(os.fspath(one.path), one.name) for one in self._attachments]
            self._draft_writer.changed(PromptDraft(text, files, self._host.cwd))

    def _attach(self, attachments: tuple[Attachment, ...]) -> None:
        self._attachments = attachments
        self._chips.set(attachments)

    def _submitted(self, written: str) -> None:
        submitted = submission(written, self._attachments)
        if submitted is not None and submitted.mode == "prompt":
            self._attach(())
        self._changed("")
        if submitted is None:
            return
        if self._history is not None and not (submitted.mode == "prompt" and submitted.private):
            self._host.spawn(self._remember(self._history, submitted.written.strip()))
        if self._taking:
            self._taken = submitted
        else:
            self._host.enter(submitted)

    def _escaped(self) -> None:
        if not self._host.escape() and self.mode != "prompt":
            self.set_text("")

    async def _remember(self, history: PromptHistory, text: str) -> None:
        problem = await asyncio.to_thread(history.add, text, self._host.cwd)
        if problem:
            self._report_once(problem)

    async def _search_history(self) -> None:
        from sightline.views.console.input._history_search import PromptSearch

        entries = [] if self._history is None else await asyncio.to_thread(self._history.entries)
        found = await self._host.ask(PromptSearch(entries, self._drawing, query=self.text.strip()))
        if isinstance(found, str):
            self.offer(found)

    async def _paste_image(self) -> None:
        from sightline.views.console.input._clipboard import NoImage, clipboard_image

        try:
            image = await asyncio.to_thread(clipboard_image)
        except NoImage as reason:
            self._host.report(reason.message, "warning", reason.hint)
        else:
            self.attach([image])

    def _report_once(self, problem: str) -> None:
        """Report a problem the first time: it may occur with each key."""
        if problem not in self._reported:
            self._reported.add(problem)
            self._host.report(problem, "warning")
