"""Vim's keys, each journey beginning in normal mode on the bar."""

import pytest

from sightline.tty.components.editor import Editor
from sightline.tty.input._keys import Key, character_key
from sightline.tty.theme._theme import Theme

from .editor_support import ACCENT, FAMILY, editor, paste, press, shown


def vim(marked: str) -> Editor:
    """An editor in normal mode, the cursor where the bar is."""
    line = marked[: marked.index("|")].count("\n")
    column = marked.index("|") - (marked.rfind("\n", 0, marked.index("|")) + 1)
    made = editor(marked.replace("|", ""), keymap="vim")
    press(made, "escape")
    made._buffer.move((line, column))
    return made


def play(made: Editor, keys: str) -> None:
    """Type letters; `<esc>`, `<c-r>` and `<cr>` are those keys."""
    named = {"<esc>": Key("escape"), "<c-r>": Key("r", ctrl=True), "<up>": Key("up"), "<bs>": Key("backspace")}
    while keys:
        name = next((name for name in named if keys.startswith(name)), None)
        made.handle_input(named[name] if name else character_key(keys[0]))
        keys = keys[len(name) if name else 1 :]


def marked(made: Editor) -> str:
    line, column = made.cursor
    lines = made.text.split("\n")
    lines[line] = lines[line][:column] + "|" + lines[line][column:]
    return "\n".join(lines)


JOURNEYS = [
    # motions
    ("abc|d", "h", "ab|cd"),
    ("|abcd", "2l", "ab|cd"),
    ("abc|d", "l", "abc|d"),
    ("on|e\ntwo", "j", "one\ntw|o"),
    ("one\ntw|o", "k", "on|e\ntwo"),
    ("|one two.three", "w", "one |two.three"),
    ("|one two.three", "2w", "one two|.three"),
    ("|one two.three x", "2W", "one two.three |x"),
    ("one two.thre|e", "b", "one two.|three"),
    ("one two.thre|e", "B", "one |two.three"),
    ("|one two", "e", "on|e two"),
    ("on|e two", "e", "one tw|o"),
    ("one|\n\ntwo", "w", "one\n|\ntwo"),
    ("  one| two", "0", "|  one two"),
    ("  one| two", "^", "  |one two"),
    ("|one two", "$", "one tw|o"),
    ("one\ntwo\nthr|ee", "gg", "|one\ntwo\nthree"),
    ("|one\ntwo\nthree", "G", "one\ntwo\n|three"),
    ("|one\ntwo\nthree", "2G", "one\n|two\nthree"),
    ("|one two", "fz", "|one two"),
    ("|one two", "fo", "one tw|o"),
    ("|a.b.c.d", "f.", "a|.b.c.d"),
    ("|a.b.c.d", "2f.", "a.b|.c.d"),
    ("|a.b.c.d", "f.;", "a.b|.c.d"),
    ("|a.b.c.d", "f.;,", "a|.b.c.d"),
    ("|abc.d", "t.", "ab|c.d"),
    ("abc.|d", "Fa", "|abc.d"),
    ("abc.|d", "Ta", "a|bc.d"),
    (f"|{FAMILY}{ACCENT}x", "ll", f"{FAMILY}{ACCENT}|x"),
    # deleting and changing
    ("a|bc", "x", "a|c"),
    ("a|bcd", "2x", "a|d"),
    ("ab|c", "x", "a|b"),
    ("ab|c", "X", "a|c"),
    ("one\nt|wo\nthree", "dd", "one\n|three"),
    ("one\nt|wo", "dd", "|one"),
    ("o|ne", "dd", "|"),
    ("|one\ntwo\nthree", "2dd", "|three"),
    ("|one\ntwo\nthree", "dj", "|three"),
    ("one\ntwo\nthr|ee", "dgg", "|"),
    ("one |two three", "D", "one| "),
    ("|one two", "dw", "|two"),
    ("one |two\nthree", "dw", "one| \nthree"),
    ("|one two three", "d2w", "|three"),
    ("|one two three", "2dw", "|three"),
    ("|one two", "de", "| two"),
    ("one tw|o", "db", "one |o"),
    ("one |two", "d$", "one| "),
    ("one |two", "d0", "|two"),
    ("|a.b.c", "df.", "|b.c"),
    ("|a.b.c", "dt.", "|.b.c"),
    ("a.b.|c", "dF.", "a.b|c"),
    ("one t|wo three", "diw", "one | three"),
    ("one t|wo three", "daw", "one |three"),
    ("one |two", "cwX<esc>", "one |X"),
    ("|one two", "cwX<esc>", "|X two"),
    ("|a two", "cwX<esc>", "|X two"),
    ("o|ne two", "ciwX<esc>", "|X two"),
    ("one\nt|wo\nthree", "ccX<esc>", "one\n|X\nthree"),
    ("one |two", "CX<esc>", "one |X"),
    ("a|bc", "sX<esc>", "a|Xc"),
    ('say "he|llo" now', 'ci"X<esc>', 'say "|X" now'),
    ('|say "hello" now', 'di"', 'say "|" now'),
    ("f(a, |b(c), d)", "di(", "f(|)"),
    ("f(a, b(|c), d)", "di(", "f(a, b(|), d)"),
    ("f(|\na\n)", "dab", "|f"),
    ("x [|a] y", "da[", "x | y"),
    ("|abc", "rX", "|Xbc"),
    ("|abc", "2rX", "X|Xc"),
    ("ab|c", "2rX", "ab|c"),
    ("|aBc", "~", "A|Bc"),
    ("|aBc", "3~", "Ab|C"),
    ("o|ne\n  two", "J", "one| two"),
    ("o|ne\ntwo\nthree", "3J", "one two| three"),
    # yanking and putting
    ("one |two", "yiw$p", "one twotw|o"),
    ("|one\ntwo", "yyp", "one\n|one\ntwo"),
    ("one\n|two", "yyP", "one\n|two\ntwo"),
    ("|ab", "xp", "b|a"),
    ("|one two", "dwP", "one| two"),
    ("|one\ntwo", "ddp", "two\n|one"),
    ("|ab", "x3p", "baa|a"),
    # inserting
    ("a|b", "iX<esc>", "a|Xb"),
    ("a|b", "aX<esc>", "ab|X"),
    ("  a|b", "IX<esc>", "  |Xab"),
    ("|ab", "AX<esc>", "ab|X"),
    ("o|ne\ntwo", "oX<esc>", "one\n|X\ntwo"),
    ("one\nt|wo", "OX<esc>", "one\n|X\ntwo"),
    # steps back and again
    ("|one two", "dwu", "|one two"),
    ("|one two", "dwu<c-r>", "|two"),
    ("|ab", "ixy z<esc>u", "|ab"),
    ("|one two three", "dw.", "|three"),
    ("|abcdef", "x2.", "|def"),
    ("|one two", "cwX<esc>w.", "X |X"),
    ("|a", "ob<esc>.", "a\nb\n|b"),
    ("one| two", "iX<esc>.", "one|XX two"),
    # visual
    ("|one two", "vey$p", "one twoon|e"),
    ("|one two", "vwd", "|wo"),
    ("on|e two", "vbd", "| two"),
    ("one |two x", "viwcX<esc>", "one |X x"),
    ("|one\ntwo\nthree", "Vjd", "|three"),
    ("|abc", "vl~", "|ABc"),
    ("|abc", "vlrx", "|xxc"),
    ("|one two", "vwo<esc>", "|one two"),
    ("|one\ntwo", "vjJ", "one| two"),
    # what is no command does nothing
    ("|one", "dq", "|one"),
    ("|one", "2<esc>x", "|ne"),
    ("|one", "zzx", "|ne"),
    ("on|e", "<bs>", "o|ne"),
]


@pytest.mark.parametrize(("before", "keys", "expected"), JOURNEYS, ids=[f"{row[1]} on {row[0]!r}" for row in JOURNEYS])
def test_commands_lead_to_text_and_cursor(before, keys, expected):
    """Each command does what it does in vim."""
    made = vim(before)
    play(made, keys)
    assert marked(made) == expected


def test_the_mode_is_shown_on_the_rule():
    """One sees which keys are letters."""
    made = editor("x", keymap="vim")
    assert "INSERT" in shown(made)[0]
    press(made, "escape")
    assert "NORMAL" in shown(made)[0]
    play(made, "V")
    assert "VISUAL LINE" in shown(made)[0]


def test_enter_submits_in_normal_mode_and_the_next_text_begins_in_insert_mode():
    """A prompt is sent in any mode."""
    got = []
    made = vim("|hello")
    made.on_submit = got.append
    press(made, "enter")
    assert (got, made.mode, made.text) == (["hello"], "insert", "")


def test_escape_in_normal_mode_is_the_applications():
    """A second escape means something to others."""
    got = []
    made = vim("|x")
    made.on_escape = lambda: got.append(True)
    press(made, "escape")
    assert got == [True]


def test_a_selection_is_drawn():
    """What an operator would take is seen before."""
    made = Editor(keymap="vim", theme=Theme({"selection": "\x1b[7m"}))
    made.set_text("abc")
    press(made, "escape")
    play(made, "0vl")
    assert made.render(20)[1] == " \x1b[7ma\x1b[0m\x1b[7mb\x1b[0mc"


def test_a_folded_paste_is_one_character_to_vim():
    """It is deleted and put back whole."""
    made = editor("a", keymap="vim")
    long = "row\n" * 20
    paste(made, long)
    press(made, "escape")
    play(made, "x")
    assert made.text == "a"
    play(made, "P")
    assert made.text == f"{long}a"
    play(made, "~")
    assert made.text == f"{long}a"


def test_up_in_normal_mode_goes_through_history():
    """Keys that are no letters mean what they mean elsewhere."""
    made = editor(keymap="vim", history=["old"])
    press(made, "escape")
    play(made, "<up>")
    assert made.text == "old"
