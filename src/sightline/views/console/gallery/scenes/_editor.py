"""Editor."""

import os
from collections.abc import Iterator, Sized

from sightline.tty import Key, Paste
from sightline.tty.components import Editor, Item, StaticCompletion
from sightline.views.console._external import editor_command
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_COMMANDS = (
    Item("/model ", "/model", "choose a model"),
    Item("/mode ", "/mode", "plan, edit or full"),
    Item("/help ", "/help"),
)
_KEYS = (("enter", "submit"), ("alt+enter", "new line"), ("ctrl+g", "editor"), ("ctrl+_", "undo"), ("ctrl+r", "search"))
_VIM_KEYS = (("enter", "submit"), ("escape", "normal"), ("i", "insert"), ("v", "visual"), ("u", "undo"))
_LINES = "Why is the row drawn twice?\n\nIt happens when the window is resized\nwhile text streams."


def _editor(stage: Stage, text: str = "", *, vim: bool = False, max_rows: int = 12, title: str = "") -> Editor:
    editor = Editor(
        bindings=stage.bindings,
        max_rows=max_rows,
        placeholder="ask anything",
        providers=[StaticCompletion("/", _COMMANDS, only_at_start=True)],
        keymap="vim" if vim else "emacs",
        theme=stage.theme,
    )
    editor.on_submit = lambda sent: stage.report(
        f"sent: {_count(sent, 'character')} in {_count(sent.splitlines(), 'line')}"
    )
    editor.on_external_editor = lambda: _edit_elsewhere(editor, stage)
    editor.set_text(text)
    editor.title = title
    return editor


def _count(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _edit_elsewhere(editor: Editor, stage: Stage) -> None:
    command = editor_command(os.environ)
    if not editor.open_external(command, stage.run_program):
        stage.report(f"{command} did not save")


def _vim(stage: Stage, keys: str) -> Editor:
    editor = _editor(stage, "one word after another", vim=True)
    editor.handle_input(Key("escape"))
    for key in keys:
        editor.handle_input(Key(key, text=key))
    return editor


@scene("editor", "where prompts are written")
def states(stage: Stage) -> Iterator[SceneState]:
    yield SceneState("empty", _editor(stage), interactive=True, keys=_KEYS)
    yield SceneState(
        "several lines, with a title", _editor(stage, _LINES, title="prompt"), interactive=True, keys=_KEYS
    )
    tall = _editor(stage, "\n".join(f"line {number}" for number in range(1, 21)), max_rows=4)
    yield SceneState("more lines than there is room for", tall, interactive=True, keys=_KEYS)
    folded = _editor(stage, "Look at this: ")
    folded.handle_input(Paste("\n".join(f"pasted line {number}" for number in range(1, 101))))
    yield SceneState("a large paste is folded; it is sent whole", folded, interactive=True, keys=_KEYS)
    completing = _editor(stage)
    for letter in "/mo":
        completing.handle_input(Key(letter, text=letter))
    yield SceneState("completions", completing, interactive=True, keys=_KEYS)
    yield SceneState(
        "vim keys: insert", _editor(stage, "one word after another", vim=True), interactive=True, keys=_VIM_KEYS
    )
    yield SceneState("vim keys: normal", _vim(stage, "b"), interactive=True, keys=_VIM_KEYS)
    yield SceneState("vim keys: visual", _vim(stage, "bve"), interactive=True, keys=_VIM_KEYS)
