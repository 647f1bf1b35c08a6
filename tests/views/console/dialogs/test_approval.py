"""The approval dialog: everything there is to know, four answers, and the keys that give them."""

from typing import Any

import pytest

from sightline.tty.input._keys import character_key, parse_key
from sightline.views.console.dialogs import ApprovalDialog, dialog_for
from tests.views.console.dialogs.support import HOSTILE, WIDTHS, Bench, check_rows, coloured, drawing

WIDER = "Yes, for this session: exec(pytest *) sandboxed"  # which only some requests offer
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old = 1\n+new = 2\n"


def request(*, agent: str = "", **details: Any) -> dict[str, Any]:
    given = {
        "ui": {"kind": "approval"},
        "tool": "bash",
        "call": "call-1",
        "access": "exec",
        "what": "git push origin main",
        "why": "the call asks to run outside the sandbox",
        "rule": "exec(git push origin main)",
        "cwd": "/project/sub",
        "sandboxed": False,
        "args": {"command": "git push origin main", "timeout": 30},
    }
    return {
        "id": "request-1",
        "what": "approval",
        "text": "bash wants to run `git push origin main`",
        "choices": ["once", "this session", "always here", "no"],
        "agent": agent,
        "details": {**given, **details},
    }


def bench(asked: dict[str, Any] | None = None, height: int = 40, **options: Any) -> Bench:
    return Bench(dialog_for(asked or request(), drawing(**options), lambda: height))


def test_everything_there_is_to_know_is_on_it() -> None:
    """The whole command, the folder, who asks, whether it is sandboxed, the other arguments, and the rule."""
    shown = bench(request(agent="Explore-2/Read-1")).text()
    assert "Explore-2/Read-1 wants to run:" in shown
    assert "Outside the sandbox" in shown
    assert "git push origin main" in shown
    assert "folder: /project/sub" in shown
    assert "timeout: 30" in shown
    assert "Remember as (e to edit): exec(git push origin main)" in shown


def test_the_title_names_an_agent_that_is_not_the_root() -> None:
    """So that it is known before the rest is read; in linear mode it is the first line."""
    assert "Explore asks: Allow this?" in bench(request(agent="Explore")).text().splitlines()[0]
    assert "Allow this?" in bench().text().splitlines()[0]
    assert "asks" not in bench().text()
    assert bench(request(agent="Explore"), linear=True).text().startswith(" Explore asks: Allow this?")


def test_each_thing_is_said_once() -> None:
    """That it is outside the sandbox, where it would run, and the rule; another reason has a row of its own."""
    args = {"command": "git push origin main", "sandbox": False, "cwd": "sub"}
    shown = bench(request(args=args)).text()
    assert shown.count("sandbox") == 1
    assert shown.count("exec(git push origin main)") == 1
    assert "why:" not in shown
    assert "cwd:" not in shown
    assert (
        "why: approval level edit asks before every command"
        in bench(request(sandboxed=True, why="approval level edit asks before every command")).text()
    )


@pytest.mark.parametrize(
    ("details", "head"),
    [
        ({"tool": "write", "access": "write"}, "The agent wants to write:"),
        ({"tool": "edit", "access": "write"}, "The agent wants to write (edit):"),
        ({"tool": "read", "access": "read"}, "The agent wants to read:"),
        ({"tool": "search", "access": "read"}, "The agent wants to read (search):"),
    ],
)
def test_why_a_file_is_asked_about_is_said_once(details: dict[str, Any], head: str) -> None:
    """Right below what it is about."""
    facts = {"what": "/etc/x", "why": "outside this folder", "outside": True, "rule": "write(/etc/x)"}
    asked = request(**details, **facts, args={"path": "/etc/x"})
    assert head in bench(asked).text()
    assert bench(asked).text().count("utside this folder") == 1
    assert "why:" not in bench(asked).text()


def test_at_forty_columns_and_twelve_rows_all_of_it_can_be_reached() -> None:
    """The choices with their keys, every row of the command, and the key that changes the rule."""
    command = "curl -s https://example.org/a/long/path --output somewhere/else/entirely.html && echo fetched"
    shown = bench(request(what=command, rule=f"exec({command})", args={"command": command}), height=9)
    for label in ("Yes, this once (y)", "Yes, for this session (s)", "Yes, always in this folder (a)", "No (n)"):
        assert label in shown.text(40)
    seen = [shown.text(40)]
    for _ in range(6):
        shown.dialog.handle_input(parse_key("pagedown"))
        seen.append(shown.text(40))
    assert all(any(word in rows for rows in seen) for word in command.split())
    assert any("e to edit" in rows for rows in seen)


@pytest.mark.parametrize("width", [20, 30, 40, 80])
def test_no_key_is_left_out_for_want_of_columns(width: int) -> None:
    """Hints take another row instead."""
    shown = bench(height=30).text(width)
    assert "enter choose" in shown
    assert "escape refuse" in shown


def test_what_would_change_is_a_diff() -> None:
    """An edit shows its lines, not its patch; the path is there."""
    asked = request(tool="edit", access="write", what="/project/x.py", diff=DIFF, args={"input": "¶x.py#1\nreplace"})
    shown = bench(asked).text()
    assert "The agent wants to write (edit" in shown
    assert shown.count("x.py") == 1
    assert "@@" not in shown
    assert "- old = 1" in shown
    assert "+ new = 2" in shown
    assert "replace" not in shown


def test_without_a_diff_the_arguments_are_shown() -> None:
    """Nothing that is asked for stays unseen."""
    asked = request(tool="write", access="write", what="/etc/x", diff="", args={"path": "/etc/x", "content": "a\nb\nc"})
    rows = [row.strip("│ ") for row in bench(asked).text().split("\n")]
    at = rows.index("content: a")
    assert rows[at : at + 3] == ["content: a", "b", "c"]


def test_a_long_command_is_scrolled_and_says_so() -> None:
    """What is out of sight is named, with the keys that show it, and comes into sight."""
    command = "\n".join(f"echo line {number}" for number in range(60))
    shown = bench(request(what=command, args={"command": command}), height=24)
    assert "echo line 0" in shown.text()
    assert "echo line 59" not in shown.text()
    assert "of 6" in shown.text()
    assert "pagedown" in shown.text()
    for _ in range(10):
        shown.press("pagedown")
    assert "echo line 59" in shown.text()
    assert "echo line 0\n" not in shown.text()
    assert len(shown.dialog.render(80)) <= 24


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["y"], {"choice": "once"}),
        (["1"], {"choice": "once"}),
        (["s"], {"choice": "this session", "rule": "exec(git push origin main)"}),
        (["a"], {"choice": "always here", "rule": "exec(git push origin main)"}),
        (["n", "enter"], {"choice": "no"}),
    ],
)
@pytest.mark.parametrize("leaves", [False, True])
def test_single_keys_answer(keys: list[str], answer: dict[str, str], leaves: bool) -> None:
    """Once, for the session, always for a rule that is shown first, or no."""
    assert bench(request(leaves=leaves)).press(*keys).answer == answer


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], {"choice": "once"}),
        (["down", "enter"], {"choice": "this session", "rule": "exec(git push origin main)"}),
        (["down", "down", "enter"], {"choice": "always here", "rule": "exec(git push origin main)"}),
        (["up", "enter", "enter"], {"choice": "no"}),
    ],
)
def test_what_stays_in_the_sandbox_begins_on_yes(keys: list[str], answer: dict[str, str]) -> None:
    """As before: one answer is enough."""
    asked = request(leaves=False, sandboxed=True)
    assert bench(asked).press(*keys).answer == answer


@pytest.mark.parametrize("details", [{"leaves": True}, {}, {"leaves": False, "unseen": "it is no text"}])
def test_what_leaves_the_sandbox_begins_on_no(details: dict[str, Any]) -> None:
    """So does what nobody said it of, and what cannot be shown whole; enter by itself allows nothing."""
    assert "› 4. No (n)" in bench(request(**details)).text()
    assert bench(request(**details)).press("enter", "enter").answer == {"choice": "no"}
    assert bench(request(**details)).press("down", "enter").answer == {"choice": "once"}


def test_always_takes_the_rule_that_is_shown_at_once() -> None:
    """One key, and no second one nobody expects."""
    assert bench().press("a").answer == {"choice": "always here", "rule": "exec(git push origin main)"}


@pytest.mark.parametrize(
    ("choices", "digit", "answer"),
    [
        (["once", "this session", "always here", "no"], "3", "always here"),
        (["once", "this session", "no"], "2", "this session"),
        (["once", "no"], "1", "once"),
        (["once", "this session", WIDER, "always here", "no"], "3", WIDER),
    ],
)
def test_the_digit_of_an_answer_is_shown_and_gives_it(choices: list[str], digit: str, answer: str) -> None:
    """Beside its letter."""
    shown = bench({**request(), "choices": choices})
    assert f"{choices.index(answer) + 1}. Yes" in shown.text()
    assert shown.press(digit).answer["choice"] == answer


def test_the_last_digit_refuses() -> None:
    """Whatever number it has."""
    asked = {**request(), "choices": ["once", "this session", "no"]}
    assert "3. No (n)" in bench(asked).text()
    assert bench(asked).press("3", "enter").answer == {"choice": "no"}


def test_the_command_comes_right_after_who_wants_it() -> None:
    """With an empty row before it and one after it, before the answers and before the keys."""
    rows = [row.strip("│ ") for row in bench().text().split("\n")]
    at = rows.index("The agent wants to run:")
    assert rows[at + 1 : at + 3] == ["", "git push origin main"]
    assert rows[rows.index("1. Yes, this once (y)") - 1] == ""
    assert rows[rows.index("enter choose · escape refuse") - 1] == ""


def test_the_rule_can_be_changed_before_it_is_saved() -> None:
    """It stands there to be edited."""
    shown = bench().press("e")
    assert "enter next" in shown.text()  # how long is asked then
    assert "Remember:" in shown.text()
    shown.press("ctrl+w", "ctrl+w").type("origin *)").press("enter", "2")
    assert shown.answer == {"choice": "always here", "rule": "exec(git push origin *)"}


@pytest.mark.parametrize(("keys", "choice"), [(["enter"], "this session"), (["down", "enter"], "always here")])
def test_who_changes_the_rule_says_how_long_it_holds(keys: list[str], choice: str) -> None:
    """With the key for it, whatever is highlighted; the shorter time is offered first."""
    shown = bench().press("e", "ctrl+u").type("exec(git push *)").press("enter")
    assert not shown.answers
    assert "How long is exec(git push *) allowed?" in shown.text()
    assert shown.press(*keys).answer == {"choice": choice, "rule": "exec(git push *)"}


def test_from_how_long_one_goes_back_to_the_rule() -> None:
    """With what was typed."""
    shown = bench().press("e", "ctrl+u").type("exec(git push *)").press("enter", "escape")
    assert "exec(git push *)" in shown.text()
    assert "How long" not in shown.text()
    assert shown.press("enter", "enter").answer == {"choice": "this session", "rule": "exec(git push *)"}


def test_where_there_is_no_choice_how_long_is_not_asked() -> None:
    """Who asks says which there are."""
    asked = {**request(), "choices": ["once", "this session", "no"]}
    shown = bench(asked).press("e")
    assert "Remember for this session" in shown.text()
    assert shown.press("enter").answer == {"choice": "this session", "rule": "exec(git push origin main)"}


@pytest.mark.parametrize(
    ("what", "rule"),
    [("touch o1 && echo ok", "exec(touch *)"), ("git push origin main", "exec(git pull *)"), ("ls", "write(x)")],
)
def test_a_rule_that_does_not_allow_what_is_asked_says_so_before_it_is_taken(what: str, rule: str) -> None:
    """Entered once more it is taken; another one is looked at anew."""
    asked = request(what=what, rule=f"exec({what})", args={})
    shown = bench(asked).press("e", "ctrl+u").type(rule).press("enter")
    assert not shown.answers
    assert "does not cover this request" in shown.text()
    assert shown.press("enter", "2").answer == {"choice": "always here", "rule": rule}
    shown = bench(asked).press("e", "ctrl+u").type(rule).press("enter", "ctrl+u").type(f"exec({what})").press("enter")
    assert shown.press("2").answer == {"choice": "always here", "rule": f"exec({what})"}


def test_a_rule_about_files_is_looked_at_from_the_folder_of_the_session() -> None:
    """A relative one is below it."""
    asked = request(tool="write", access="write", what="/project/.git/x", rule="write(/project/.git/x)", args={})
    shown = bench(asked).press("e", "ctrl+u").type("write(.git/**)").press("enter", "2")
    assert shown.answer == {"choice": "always here", "rule": "write(.git/**)"}


def test_a_rule_that_is_none_is_not_taken() -> None:
    """It says what is wrong, and the text stays to be mended."""
    shown = bench().press("e", "ctrl+u").type("exce(git)").press("enter")
    assert not shown.answers
    assert "not a rule: exce(git)" in shown.text()
    shown.press("ctrl+u").type("exec(git push * main)").press("enter", "2")
    assert shown.answer == {"choice": "always here", "rule": "exec(git push * main)"}


@pytest.mark.parametrize("rule", ["Bash(make *), changes to files without asking", "npm test"])
def test_a_rule_of_another_programs_is_shown_and_taken_as_it_is(rule: str) -> None:
    """It is that program's to read: there is nothing to change here, and no mistake to find in it."""
    asked = request(rule=rule)
    assert f"Remember as: {rule}" in bench(asked).text()
    assert not bench(asked).press("e", "enter").answers[1:]
    assert bench(asked).press("a").answer == {"choice": "always here"}
    assert bench(asked).press("s").answer == {"choice": "this session", "rule": rule}


@pytest.mark.parametrize("keys", [["s"], ["a"]])
def test_the_rule_of_a_command_of_several_lines_is_kept_as_it_is(keys: list[str]) -> None:
    """On one line it would be the rule of another command."""
    rule = "exec(cat <<END\nrm -rf x\nEND)"
    asked = request()
    asked["details"]["rule"] = rule
    assert bench(asked).press(*keys).answer["rule"] == rule


def test_the_breaks_of_a_rule_are_seen_and_stay_when_it_is_changed() -> None:
    """Wherever it is shown, and in what becomes of it."""
    command = "echo one\necho two > x\n"
    shown = bench(request(what=command, rule=f"exec({command})", args={}))
    assert "exec(echo one⏎echo two > x⏎)" in shown.text()
    shown.press("e")
    assert "exec(echo one⏎echo two > x⏎)" in shown.text().split("Remember:")[1]
    shown.press("backspace", "backspace", "backspace").type("y)").press("enter")
    assert "does not cover this request" in shown.text()
    assert shown.press("enter", "2").answer == {"choice": "always here", "rule": "exec(echo one\necho two > y)"}


def test_a_no_may_have_a_reason() -> None:
    """The model is told."""
    assert bench().press("n").type("use make").press("enter").answer == {"choice": "no", "reason": "use make"}


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_escape_goes_back_and_then_closes_it(key: str) -> None:
    """Closed it is no yes."""
    shown = bench().press("n", key)
    assert not shown.answers
    assert "Yes, this once" in shown.text()
    assert shown.press(key).answer is None


def test_it_answers_once() -> None:
    """A second key comes too late."""
    assert bench().press("y", "n", "enter").answers == [{"choice": "once"}]


def test_keys_can_be_moved() -> None:
    """The letters are actions like any other."""
    shown = bench(keys={"approve_once": "o"})
    assert not shown.press("y").answers
    assert shown.press("o").answer == {"choice": "once"}


def test_only_what_can_be_answered_is_offered() -> None:
    """Who asks says which choices there are; without a rule there is none to save."""
    asked = {**request(rule=""), "choices": ["once", "no"]}
    shown = bench(asked)
    assert "always" not in shown.text()
    assert not shown.press("a", "s").answers
    assert shown.press("y").answer == {"choice": "once"}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 12, 24, 60])
def test_it_fits_and_hostile_text_does_nothing(width: int, height: int) -> None:
    """At every width and from eight rows on the choices are there; whatever the fields hold, rows are rows."""
    asked = request(
        agent=HOSTILE, tool=HOSTILE, what=HOSTILE + "\n" + HOSTILE * 30, why=HOSTILE, rule=HOSTILE, cwd=HOSTILE,
        diff=HOSTILE, args={HOSTILE: HOSTILE, "more": [HOSTILE]},
    )  # fmt: skip
    dialog = ApprovalDialog(asked, drawing(theme=coloured()), lambda: height)
    dialog.done = lambda answer: None
    dialog.focused = True
    check_rows(dialog, width)
    assert len(dialog.render(width)) <= max(height, 8)
    assert any("Yes, this once" in row for row in dialog.render(width))


@pytest.mark.parametrize("details", [None, [], "x", {}, {"args": 3, "diff": 4, "rule": None, "sandboxed": "x"}])
def test_details_that_are_none_are_shown_as_far_as_they_go(details: Any) -> None:
    """A request from elsewhere may hold anything; what it says in words is shown."""
    shown = bench({"what": "approval", "text": "something wants something", "details": details})
    assert "something wants something" in shown.text()
    assert shown.press("y").answer == {"choice": "once"}


def test_on_lines_everything_is_said_and_a_line_answers() -> None:
    """No frame, no window: the command is written whole, and a rule that is typed takes the place of the one there."""
    command = "\n".join(f"echo line {number}" for number in range(60))
    shown = bench(request(what=command), linear=True)
    assert "echo line 59" in shown.text()
    assert "Allow this?" in shown.text()
    shown.press("e")
    assert "exec(git push origin main)" in shown.text()
    shown.type("exec(git push *)").press("enter")
    assert "does not cover this request" in shown.text()
    assert shown.press("enter").press("down", "enter").answer == {"choice": "always here", "rule": "exec(git push *)"}


COMMAND = "\n".join(f"echo line {number}" for number in range(9))


@pytest.mark.parametrize("width", [20, 40, 80])
def test_where_rows_are_few_the_command_comes_first(width: int) -> None:
    """Its beginning is in sight above the answers, and the page keys show the rest of what there is to know."""
    shown = bench(request(what=COMMAND, args={}), height=9)
    assert shown.text(width).split("\n")[0].strip() == "echo line 0"
    assert "echo line 2" in shown.text(width)
    assert "Yes, this once" in shown.text(width)
    assert len(shown.dialog.render(width)) <= 9
    seen = shown.text(width)
    for _ in range(12):
        shown.dialog.handle_input(parse_key("pagedown"))
        seen += shown.text(width)
    assert "echo line 8" in seen
    assert "/project/sub" in seen
    assert shown.press("y").answer == {"choice": "once"}


@pytest.mark.parametrize("height", [1, 4, 7])
@pytest.mark.parametrize("keys", [["y"], ["enter"], ["1"], ["s"], ["a", "enter"], ["e", "enter"], ["down", "enter"]])
def test_what_cannot_be_seen_cannot_be_allowed(height: int, keys: list[str]) -> None:
    """The dialog says what to do; no is an answer all the same."""
    shown = bench(request(what=COMMAND), height=height).press(*keys)
    assert all(answer == {"choice": "no"} for answer in shown.answers)
    shown = bench(request(what=COMMAND), height=height)
    assert "Make the window larger to answer." in shown.text()
    assert "Yes" not in shown.text()
    assert shown.press("n").type("too low").press("enter").answer == {"choice": "no", "reason": "too low"}


def test_a_short_command_can_be_allowed_in_few_rows() -> None:
    """All of it is in sight."""
    asked = {**request(rule="", why="", cwd="", args={}), "choices": ["once", "no"]}
    assert bench(asked, height=4).press("y").answer == {"choice": "once"}


def test_a_window_that_is_made_larger_can_be_answered_in() -> None:
    """And one that is made smaller no more, with the rule half typed and the key under way."""
    rows = [5]
    shown = Bench(dialog_for(request(what=COMMAND), drawing(), lambda: rows[0]))
    rows[0] = 24
    assert "Yes, this once" in shown.text()
    assert "echo line 8" in shown.text()
    shown.press("e")
    rows[0] = 5
    shown.dialog.handle_input(parse_key("enter"))
    assert not shown.answers
    rows[0] = 24
    assert shown.press("escape", "y").answer == {"choice": "once"}


def test_what_was_never_drawn_is_not_answered() -> None:
    """A key that was quicker than the screen was not meant for it."""
    dialog = dialog_for(request(), drawing(), lambda: 24)
    answers: list[Any] = []
    dialog.done = answers.append
    dialog.handle_input(character_key("y"))
    assert not answers
    dialog.render(80)
    dialog.handle_input(character_key("y"))
    assert answers == [{"choice": "once"}]
