"""Editor, input and select list, each built from an arbitrary string."""

from sightline.tty.components._input import Input
from sightline.tty.components._select import Item, SelectList
from sightline.tty.components.editor import Editor, StaticCompletion
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import theme_for

THEME = theme_for(dark=True, depth="true")


def _editor(text):
    editor = Editor(placeholder=text, history=[text], max_rows=6, theme=THEME)
    editor.title = text
    editor.border_role = text
    return editor


def _written(text):
    editor = _editor(text)
    editor.set_text(text)
    return editor


def _pasted(text):
    editor = Editor(keymap="vim", max_rows=5, theme=THEME)
    editor.focused = True
    editor.handle_input(Paste(text))
    editor.handle_input(Paste(text * 60))
    editor.handle_input(Key("x", text=text))
    for key in (Key("escape"), Key("v", text="v"), Key("0", text="0")):
        editor.handle_input(key)
    return editor


def _recalled(text):
    editor = _editor(text)
    editor.handle_input(Key("up"))
    return editor


def _completing(text):
    editor = Editor(providers=[StaticCompletion("/", [Item(text, f"/{text}", text, text)])], theme=THEME)
    editor.handle_input(Key("/", text="/"))
    return editor


def _input(text, **options):
    made = Input(prompt=text[:8], placeholder=text, theme=THEME, **options)
    made.set_text(text)
    return made


def _typed(text):
    made = Input(theme=THEME)
    made.focused = True
    made.handle_input(Key("x", text=text))
    made.handle_input(Paste(text))
    return made


def _list(text):
    made = SelectList(
        [Item(text, text, text, text), *(Item(line, line) for line in text.split("\n", 9))], 6, theme=THEME
    )
    made.handle_input(Key("down"))
    return made


def _filtered(text):
    made = SelectList([Item(text, text, text)], filter=True, prompt=text[:5], empty=text, theme=THEME)
    made.handle_input(Paste(text[:3]))
    return made


CASES = {
    "editor": _editor,
    "editor with text": _written,
    "editor with pastes, in visual mode": _pasted,
    "editor with history": _recalled,
    "editor with completions": _completing,
    "input": _input,
    "input with a mask": lambda text: _input(text, mask=text),
    "input, typed into": _typed,
    "select list": _list,
    "select list, filtered": _filtered,
}
