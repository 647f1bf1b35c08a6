"""Approvals that are longer than the window: all can be reached, and nothing is allowed before its end was seen."""

import time
from typing import Any

import pytest

from sightline.text import unified_diff
from sightline.tty.components import Diff
from sightline.tty.components._exact_lines import ExactDiff
from sightline.tty.input._keys import parse_key
from sightline.views.console.dialogs import dialog_for
from tests.views.console.dialogs.support import WIDTHS, Bench, check_rows, coloured, drawing
from tests.views.console.dialogs.test_approval import bench, request

LONG = "\n".join(f"echo line {number}" for number in range(60))
ALLOWING = [["y"], ["1"], ["s"], ["a", "enter"], ["e", "enter", "enter"], ["up", "enter"], ["up", "up", "enter"]]


def long_request(**more: Any) -> dict[str, Any]:
    return request(**{"what": LONG, "args": {"command": LONG}, "leaves": False, "sandboxed": True, **more})


def new_file(lines: int) -> str:
    rows = "".join(f"+line {number}\n" for number in range(lines))
    return f"--- /dev/null\n+++ b/x\n@@ -0,0 +1,{lines} @@\n{rows}"


def big_write(lines: int) -> dict[str, Any]:
    return request(tool="write", access="write", what="/x", diff=new_file(lines), added=lines, removed=0, args={})


def one_byte_file(content: str) -> dict[str, Any]:
    diff = unified_diff(None, content, "a/x", "b/x").text
    return request(tool="write", access="write", what="/x", diff=diff, added=1, removed=0, args={})


@pytest.mark.parametrize("keys", ALLOWING)
def test_what_is_cut_cannot_be_allowed(keys: list[str]) -> None:
    """No key, arrow or number says yes while the end was not in sight."""
    shown = bench(long_request(), height=24).press(*keys)
    assert all(answer == {"choice": "no"} for answer in shown.answers)
    assert "echo line 59" not in shown.text()
    assert "scroll to the end to allow (end)" in bench(long_request(), height=24).text()


def test_no_is_always_an_answer() -> None:
    """It is highlighted, has its key, and escape closes."""
    assert "› 4. No (n)" in bench(long_request(), height=24).text()
    assert bench(long_request(), height=24).press("n", "enter").answer == {"choice": "no"}
    assert bench(long_request(), height=24).press("enter", "enter").answer == {"choice": "no"}
    assert bench(long_request(), height=24).press("escape").answer is None


@pytest.mark.parametrize("way", [["end"], ["pagedown"] * 8])
def test_who_saw_the_end_may_answer(way: list[str]) -> None:
    """With one key to get there, or page by page."""
    shown = bench(long_request(), height=24).press(*way)
    assert "echo line 59" in shown.text()
    assert "scroll to the end" not in shown.text()
    assert shown.press("y").answer == {"choice": "once"}


def test_what_was_seen_stays_seen() -> None:
    """Back at the top, and in a window of another size."""
    rows = [24]
    shown = Bench(dialog_for(long_request(), drawing(), lambda: rows[0])).press("end", "home")
    assert "echo line 0" in shown.text()
    rows[0] = 18
    shown.text(60)
    assert shown.press("y").answer == {"choice": "once"}


def test_what_fits_is_answered_with_one_key() -> None:
    """Nothing changes for it."""
    assert bench(request(leaves=False), height=24).press("enter").answer == {"choice": "once"}
    assert bench(request(leaves=True), height=24).press("y").answer == {"choice": "once"}


def test_a_rule_below_the_fold_keeps_nobody_waiting() -> None:
    """What would be done is to be seen, command and arguments; a rule is shown again before it is saved."""
    rule = "exec(" + "x" * 900 + ")"
    assert bench(request(leaves=False, rule=rule), height=24).press("y").answer == {"choice": "once"}


def test_other_arguments_are_to_be_seen_too() -> None:
    """They are part of what is done."""
    asked = request(leaves=False, args={"command": "git push origin main", "env": "\n".join(map(str, range(50)))})
    assert not bench(asked, height=24).press("y").answers
    assert bench(asked, height=24).press("end", "y").answer == {"choice": "once"}


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        (long_request(), "(60 lines, 769 bytes)"),
        (request(what="x" * 300, args={}), "(1 line, 300 bytes)"),
        (big_write(5001), "new file, 5,001 lines, 48 KB"),
        (one_byte_file("x"), "new file, 1 line, 1 byte)"),
        (one_byte_file("x\n"), "new file, 1 line, 2 bytes)"),
    ],
)
def test_how_much_it_is_is_said_first(asked: dict[str, Any], size: str) -> None:
    """Before any of it."""
    rows = bench(asked).text().split("\n")
    assert size in rows[1]


def test_a_line_of_which_only_the_beginning_is_in_sight_is_said_to_be_cut() -> None:
    """In the count, and at its end: a rule must not look shorter than it is."""
    rule = f"exec(git push {'--force-with-lease ' * 6}origin)"
    asked = request(leaves=True, rule=rule, what="git push", cwd="", args={})
    low = Bench(dialog_for(asked, drawing(), lambda: 14), width=60)
    shown = Bench(dialog_for(asked, drawing(), lambda: 15), width=60)
    assert ": exec(git push …" in low.text()
    assert "--force-with-lease --force-with-lea …" in shown.text()
    for dialog in (low, shown):
        assert "1–6 of 6 lines, 6 cut · end jump to the end" in dialog.text()
    shown.press("end")
    assert "│ origin)" in shown.text()
    assert " cut" not in shown.text()


def test_every_line_of_a_long_write_can_be_reached() -> None:
    """Five thousand and one of them, page by page, none skipped."""
    shown = bench(big_write(5001), height=40)
    seen = shown.text()
    for _ in range(300):
        shown.dialog.handle_input(parse_key("pagedown"))
        seen += "\n" + shown.text()
    assert all(f"{number + 1:>4} + line {number} " in seen for number in range(5001))
    shown.press("home")
    assert "+ line 0 " in shown.text()


def test_a_diff_of_five_thousand_lines_opens_at_once() -> None:
    """Only the rows in sight are laid out. (`make bench` has the goal; here it must not be far off.)"""
    asked = big_write(5001)
    began = time.process_time()
    dialog_for(asked, drawing(theme=coloured()), lambda: 40).render(100)
    assert time.process_time() - began < 0.5


def test_a_diff_has_the_colours_of_its_language_as_in_the_transcript() -> None:
    """By the same painter, each side going on where it was left, in every hunk anew; far into a long hunk, none."""
    theme = coloured()
    first = '@@ -1,3 +1,3 @@\n def f():\n-    """one\n+    """two\n     return None"""\n'
    text = f"--- a/x.py\n+++ b/x.py\n{first}@@ -9 +9 @@\n-return 1\n+raise Error(1)\n"
    exact, usual = ExactDiff(text, path="x.py", theme=theme), list(Diff(text, theme=theme).render(60))[1:]
    keywords = [theme.style("syntax_keyword", word) for word in ("def", "return", "raise")]
    for index, row in reversed(list(enumerate(usual))):  # whichever is asked for first
        (same,) = exact.rows(index, 60)
        assert [word in same for word in keywords] == [word in row for word in keywords], (row, same)
    assert keywords[2] in exact.rows(len(exact) - 1, 60)[0]
    long = "--- /dev/null\n+++ b/x.py\n@@ -0,0 +1,5000 @@\n" + "+return 1\n" * 5000
    rows = ExactDiff(long, path="x.py", theme=theme)
    assert keywords[1] in rows.rows(999, 60)[0]
    assert keywords[1] not in rows.rows(4999, 60)[0]


def test_blanks_do_not_push_a_command_out_of_sight() -> None:
    """They are counted, and what follows stands right behind them."""
    command = f"echo ok{' ' * 200}; rm -rf ~"
    assert "echo ok⟨200 spaces⟩; rm -rf ~" in bench(request(what=command, args={})).text()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("rm -rf build ", "rm -rf build·"),
        ("a\tb", "a→   b"),
        ("a  b", "a··b"),
        ("echo ok\rrm", "echo ok␍rm"),
        ("a\u202eb\u200bc\u00a0d", "a⟨U+202E⟩b⟨U+200B⟩c⟨U+00A0⟩d"),
    ],
)
def test_what_is_blank_in_a_command_is_seen(command: str, shown: str) -> None:
    """Also where whoever asked did not say how it is shown."""
    assert shown in bench(request(what=command, args={})).text()


def test_what_is_blank_in_a_diff_is_seen() -> None:
    """Trailing blanks and tabs are changes like any other."""
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+one \n+\ttwo\n+    three\n"
    text = bench(request(tool="edit", access="write", what="/x", diff=diff, args={})).text()
    assert "+ one·" in text
    assert "+ →   two" in text
    assert "+     three" in text


def test_a_line_that_goes_on_does_not_pass_for_another() -> None:
    """Its further rows begin with a mark."""
    command = "echo " + "x" * 150 + " && rm -rf ~"
    rows = [row.strip("│ ") for row in bench(request(what=command, args={})).text().split("\n")]
    at = next(index for index, row in enumerate(rows) if row.startswith("echo x"))
    assert rows[at + 1].startswith("↪ x")
    assert rows[at + 2].startswith("↪ x")
    diff = f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+{'y' * 150}\n"
    text = bench(request(tool="edit", access="write", what="/x", diff=diff, args={})).text()
    assert "↪ y" in text


def test_what_cannot_be_shown_is_said_in_a_sentence() -> None:
    """Before the rest."""
    asked = request(tool="write", access="write", what="/x", unseen="it is no text", about="it is made executable")
    shown = bench(asked).text()
    assert "It is no text." in shown
    assert "It is made executable." in shown
    assert shown.index("It is no text.") < shown.index("/x ")


def test_only_the_choices_there_are_are_shown() -> None:
    """Whoever asks leaves out what it cannot keep."""
    asked = {**request(rule=""), "choices": ["once", "no"]}
    shown = bench(asked).text()
    assert "for this session" not in shown
    assert "always" not in shown
    assert "Remember as" not in shown


@pytest.mark.parametrize("rule", ["exec(make) sandboxed", "exec(make) sandboxed in /project/sub"])
def test_the_rule_is_shown_as_it_is(rule: str) -> None:
    """With all that limits it."""
    shown = bench(request(rule=rule)).text()
    assert rule in shown


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 12, 24])
def test_long_things_fit_any_window(width: int, height: int) -> None:
    """Rows are never too wide, and the choices are there."""
    dialog = dialog_for(long_request(), drawing(theme=coloured()), lambda: height)
    dialog.done = lambda answer: None
    dialog.focused = True
    check_rows(dialog, width)
    assert len(dialog.render(width)) <= height
    assert any("No" in row for row in dialog.render(width))


def test_on_lines_all_of_it_is_written_and_can_be_answered() -> None:
    """There is no window to scroll."""
    shown = bench(long_request(), linear=True)
    assert "echo line 59" in shown.text()
    assert shown.press("y").answer == {"choice": "once"}


@pytest.mark.parametrize("small", [(40, 10), (30, 8), (60, 9)])
def test_another_size_brings_no_end_into_sight(small: tuple[int, int]) -> None:
    """Who scrolled a page of a long line and then makes the window smaller has not seen its end by that."""
    rows = [30]
    command = "echo " + " ".join(f"word-{number}" for number in range(4000))
    shown = Bench(dialog_for(request(what=command, args={"command": command}), drawing(), lambda: rows[0]), width=100)
    shown.press("pagedown")
    rows[0] = small[1]
    shown.width = small[0]
    shown.text()
    assert shown.press("y").answers == []
    rows[0], shown.width = 30, 100
    assert shown.press("y").answers == []


@pytest.mark.parametrize(
    ("key", "words"), [("s", "Remember for this session"), ("a", "Remember always in this folder")]
)
def test_a_rule_out_of_sight_is_shown_before_it_is_taken(key: str, words: str) -> None:
    """For this session, too: nothing is allowed wider than it was shown."""
    rule = f"exec(make {'x' * 300})"
    hidden = 0
    for height in range(8, 20):
        shown = bench(request(what="make", args={"command": "make"}, rule=rule), height=height)
        in_sight = "xxx)" in shown.text()
        shown.press(key)
        if not in_sight:
            hidden += not shown.answers and words in shown.text()
            assert shown.answers == []
    assert hidden  # there are heights in which only the rule is out of sight


def test_what_a_command_gets_is_said_wherever_it_runs() -> None:
    """Outside the sandbox, too, where it matters most."""
    shown = bench(request(passed=["GITHUB_TOKEN"], sandboxed=False, why="the call asks to run outside the sandbox"))
    assert "gets: GITHUB_TOKEN (permissions.pass_env)" in shown.text()
