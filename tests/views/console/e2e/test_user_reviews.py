"""`/review` by keys: a change is chosen, and what was found is stepped through, fixed, dismissed, and there again."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import CTRL_C, CTRL_D, DOWN, ENTER, ESCAPE, UP, Person, Screen, bash, text
from tests.views.console.e2e.test_linear import Listener
from tests.views.console.e2e.test_linear import listener as listener
from tests.working_copies.conftest import git, make_repository

pytestmark = pytest.mark.needs("git")

ALT_A, ALT_R, CTRL_A, CTRL_E, DELETE, PAGE_DOWN = "\x1ba", "\x1br", "\x01", "\x05", "\x1b[3~", "\x1b[6~"
FREE = ("--set", "permissions.sandbox=false", "--allow", "exec")
LIST = "── Review of the changes against main"


def finding(title: str, **more: Any) -> dict[str, Any]:
    return {"tool": "report_finding", "args": {"title": title, "file": "app.py", "first_line": 2, **more}}


def verdict(summary: str = "It rounds.", words: str = "request_changes") -> list[dict[str, Any]]:
    result = {"verdict": words, "summary": summary, "confidence": 0.8}
    return [{"tool": "yield", "args": {"result": result}}]


ROUNDS = finding("it rounds now", body="`/` became **//**.", priority=0)
NIT = finding("a nit", file="new.txt", first_line=1, priority=3)
WAITS = bash("echo it-waits; until test -e go; do sleep 0.05; done")


def reviewers(*scripts: list[Any]) -> dict[str, Any]:
    """What the first one says, the second, …"""
    return {"agents": {f"Review-{number}" if number > 1 else "Review": each for number, each in enumerate(scripts, 1)}}


def a_project(folder: Path) -> None:
    """On `work`, with a commit that `main` has not, and a new file."""
    (folder / "app.py").write_text("def half(x):\n    return x / 2\n")
    make_repository(folder)
    git(folder, "checkout", "-q", "-b", "work")
    (folder / "app.py").write_text("def half(x):\n    return x // 2\n")
    git(folder, "commit", "-q", "-a", "-m", "Round")
    (folder / "new.txt").write_text("fresh\n")


def shows(*texts: str) -> Any:
    return lambda rows: all(any(each in row for row in rows) for each in texts)


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_a_change_is_chosen_reviewed_and_fixed(person: Person) -> None:
    """The list opens when the review ends; a prompt is written into the editor, and nothing is sent before Enter."""
    a_project(person.project)
    model = person.script(reviewers([[text("I look."), ROUNDS, NIT], verdict()]), [text("I fixed it.")])
    screen = person.opens("--model", model, *FREE)
    screen.says("/review")
    screen.sees("Uncommitted changes", "1 file", "1 commit that main has not", "the last one: Round")
    screen.press(DOWN)
    screen.sees("› Changes against a branch")
    screen.press(ENTER)
    screen.sees("Against which branch", "› main")
    screen.press(ENTER)
    screen.sees(LIST, "› P0 it rounds now", "app.py:2", "/ became //.", "2 -     return x / 2", "2 +     return x // 2")
    screen.sees("✓ Review the changes against main", "changes requested, 2 findings", "It rounds.")
    screen.answers(DOWN, shows("› P3 a nit", "1 + fresh"))
    screen.press(UP)
    screen.sees("› P0 it rounds now", "escape close")
    screen.press(ENTER)
    screen.sees("Fix this finding of a review of the changes against main:", "[P0] app.py:2: it rounds now")
    screen.sees_no(LIST)
    assert "I fixed it." not in "\n".join(screen.rows())
    screen.press(ENTER)
    screen.sees("I fixed it.")
    screen.sees("✓ Review the changes against main  changes")
    screen.once("I fixed it.", "Review the changes against main", "alt+r steps through them")
    screen.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_the_list_is_there_again(person: Person) -> None:
    """With a key, from /review, and when the session is resumed; what was dismissed stays so, and all others are
    fixed together."""
    a_project(person.project)
    model = person.script(reviewers([[ROUNDS, NIT, finding("another", priority=1)], verdict()]))
    screen = person.opens("--model", model, *FREE)
    screen.says("/review main")
    screen.sees(LIST, "› P0 it rounds now", "  P1 another")
    screen.answers(DOWN, shows("› P1 another"))
    screen.press(DELETE)
    screen.sees("2 of 3 findings", "dismissed · app.py:2", "› P3 a nit")
    screen.press(ESCAPE)
    screen.sees_no(LIST)
    screen.says("/review")
    screen.sees("Findings of the last review", "the changes against main: 2 not dismissed")
    screen.press(ENTER)
    screen.sees(LIST, "dismissed · app.py:2")
    screen.press(ESCAPE)
    screen.sees_no(LIST)
    (session,) = [row["id"] for row in until(running_sessions, "the session")]
    screen.press(CTRL_D)
    screen.ended()
    again = person.opens("--resume", session)
    again.sees("changes requested, 3 findings")
    again.press(ALT_R)
    again.sees(LIST, "2 of 3 findings", "dismissed · app.py:2")
    again.press(DOWN)
    again.sees("› P1 another", "P1 · app.py:2 · dismissed")
    again.press(DELETE)
    again.sees_no("dismissed")
    again.press(DELETE)
    again.sees("dismissed · app.py:2", "› P3 a nit")
    again.press(CTRL_A)
    again.sees("Fix these findings of a review of the changes against main:")
    again.sees("1. [P0] app.py:2: it rounds now", "2. [P3] new.txt:1: a nit")
    again.press(CTRL_C)
    again.sees_no("Fix these findings")
    again.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_what_is_typed_is_not_taken_by_the_list(person: Person) -> None:
    """It opens over no draft; once it is open, a letter goes to the editor and closes it."""
    a_project(person.project)
    model = person.script(reviewers([[WAITS], [ROUNDS], verdict()], [[ROUNDS], verdict()]))
    screen = person.opens("--model", model, *FREE)
    screen.says("/review main")
    screen.sees("reviewing the changes against main", "escape stop")
    screen.press("a draft of mine")
    screen.sees("a draft of mine")
    (person.project / "go").touch()
    screen.sees("changes requested, 1 finding", "alt+r steps through them", "a draft of mine")
    screen.sees_no("reviewing")
    assert not shows(LIST)(screen.rows())
    screen.press(ALT_R)
    screen.sees(LIST, "› P0 it rounds now")
    screen.press(ENTER)
    screen.sees("a draft of mine", "Fix this finding of a review")
    screen.press(CTRL_C)
    screen.sees_no("a draft of mine")
    screen.says("/review main")
    screen.sees(LIST)
    screen.press("x")
    screen.sees_no(LIST)
    screen.sees(" x")
    screen.press(CTRL_C, CTRL_D)


@pytest.mark.parametrize("person", ["xterm", "tmux"], indirect=True)
def test_a_review_is_stopped(person: Person) -> None:
    """By Escape, and by Delete in the list of agents; what it had found by then is there."""
    a_project(person.project)
    script = [[ROUNDS], [WAITS], verdict()]
    model = person.script(reviewers(script, script))
    screen = person.opens("--model", model, *FREE)
    screen.says("/review main")
    screen.sees("reviewing the changes against main", "escape stop", "◌ $ echo it-waits")
    screen.press(ESCAPE)
    screen.sees("– Review the changes against main", "1 finding", LIST)
    screen.answers(ESCAPE, lambda rows: not shows(LIST)(rows))
    screen.says("/review main..HEAD")
    screen.sees("reviewing main..HEAD", "Review-2")
    screen.press(ALT_A)
    screen.sees("── Agents", "Review-2: main..HEAD")
    screen.press(DOWN, DOWN)
    screen.sees("›   Review-2: main..HEAD")
    screen.press(DELETE)
    screen.sees_no("reviewing")
    screen.press(ESCAPE)
    screen.sees("– Review main..HEAD")
    screen.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_leaving_during_a_review_is_a_question(person: Person) -> None:
    a_project(person.project)
    screen = person.opens("--model", person.script(reviewers([[WAITS], verdict()])), *FREE)
    screen.says("/review main")
    screen.sees("reviewing the changes against main")
    screen.press(CTRL_D)
    screen.sees("A review is running.")
    screen.answers("2", lambda rows: not shows("A review is running.")(rows))


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_two_reviews_while_the_agent_works(person: Person) -> None:
    """Each has its block, and the conversation goes on above and below them."""
    a_project(person.project)
    model = person.script(
        reviewers([[WAITS], [ROUNDS], verdict("The first.")], [[WAITS], verdict("The second.", "approve")]),
        [text("I begin."), bash("echo working; until test -e go; do sleep 0.05; done")],
        [text("I am done.")],
    )
    screen = person.opens("--model", model, *FREE, rows=50)
    screen.says("go")
    screen.sees("working")
    screen.says("/review main")
    screen.sees("◌ Review the changes against main")
    screen.says("/review main..HEAD")
    screen.sees("◌ Review-2 main..HEAD", "2 agents")
    (person.project / "go").touch()
    screen.sees(
        "I am done.",
        "✓ Review the changes against main  changes requested",
        "✓ Review main..HEAD  approved, no findings",
    )
    screen.answers(ESCAPE, lambda rows: not shows(LIST)(rows))
    screen.once("I begin.", "I am done.", "The first.", "The second.")
    screen.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_a_question_of_the_reviewer_comes_before_the_list(person: Person) -> None:
    """An approval of anything is not held up by findings that were not requested just then."""
    a_project(person.project)
    os.mkfifo(person.project / "gate")
    calls = [bash("cat gate"), bash("echo asked")]
    model = person.script(reviewers([[ROUNDS], verdict()]), calls[:1], calls[1:], [text("ok")])
    level = ("--set", "permissions.sandbox=false", "--allow", "exec(cat gate)", "--approval", "edit")
    screen = person.opens("--model", model, *level)
    screen.says("go")
    screen.sees("running Bash")
    screen.says("/review main..HEAD")
    screen.sees("── Review of main..HEAD", "› P0 it rounds now")
    (person.project / "gate").write_text("open\n")
    screen.sees("Allow this?", "Yes, this once")
    screen.sees_no("── Review of main..HEAD")
    screen.answers("y", shows("ok"))
    screen.press(CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_what_cannot_be_reviewed_is_one_line(person: Person) -> None:
    """What was typed stays to be corrected; a choice without anything in it cannot be chosen."""
    screen = person.opens("--model", person.script(reviewers([[ROUNDS], verdict()])), *FREE)
    screen.says("/review")
    screen.sees("✕ not in a git repository that can be used", "`git init` makes one")
    screen.press(ALT_R)
    screen.sees("no review has found anything in this session")
    git(person.project, "init", "-q")
    screen.says("/review")
    screen.sees("there are none", "there is no branch yet", "there is no commit yet")
    screen.press(ENTER)
    screen.sees("── Review ─", "› Uncommitted changes")
    screen.press(ESCAPE)
    screen.sees_no("there is no commit yet")
    git(person.project, "commit", "-q", "--allow-empty", "-m", "start")
    screen.says("/review --output=x")
    screen.sees("no branch, commit or range --output=x", "/review --output=x")
    screen.press(CTRL_C)
    screen.says("/review")
    screen.sees("A commit or a range")
    screen.press(DOWN, DOWN)
    screen.sees("› A commit or a range")
    screen.press(ENTER)
    screen.sees("Which commit", "start", "Another one, or a range")
    screen.press("another")
    screen.sees("› Another one")
    screen.press(ENTER)
    screen.sees("such as HEAD~2")
    screen.press("nope", ENTER)
    screen.sees("no branch, commit or range nope")
    screen.press(ESCAPE)
    screen.sees_no("such as HEAD~2")
    assert not (person.project / "x").exists()
    screen.press(CTRL_D)


@pytest.mark.parametrize("person", ["tmux"], indirect=True)
def test_a_place_is_opened_in_the_editor(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its line, where the editor is known to take one; then the list is there again."""
    a_project(person.project)
    editor = tmp_path / "bin" / "nano"
    editor.parent.mkdir()
    editor.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(editor))
    screen = person.opens("--model", person.script(reviewers([[ROUNDS], verdict()])), *FREE)
    screen.says("/review main")
    screen.sees(LIST)
    screen.answers(CTRL_E, lambda rows: (tmp_path / "opened").exists())
    assert (tmp_path / "opened").read_text().split() == ["+2", str(person.project / "app.py")]
    screen.sees(LIST)
    screen.press(ESCAPE, CTRL_D)


@pytest.mark.parametrize("person", ["xterm"], indirect=True)
def test_a_long_finding_is_read_to_its_end(person: Person) -> None:
    """On a small screen, too, whatever is in it drives nothing."""
    a_project(person.project)
    body = "\n\n".join(f"paragraph {number} \x1b[31m\u202e" for number in range(40))
    model = person.script(reviewers([[finding("long \x1b]0;x\x07", body=body, priority=0)], verdict()]))
    screen = person.opens("--model", model, *FREE, rows=20, columns=60)
    screen.says("/review main")
    screen.sees(LIST[:25], "› P0 long", "paragraph 0", "more rows")
    for _ in range(60):
        if shows("2 +     return x // 2")(screen.rows()):
            break
        screen.press(PAGE_DOWN)
    screen.sees("2 +     return x // 2", "› P0 long")
    _holds_no_sequence(screen)
    screen.press(ESCAPE, CTRL_D)


def _holds_no_sequence(screen: Screen) -> None:
    assert not any("\u202e" in row or "]0;x" in row for row in screen.tape())


def test_a_review_for_one_who_listens(listener: Listener) -> None:
    """The report is read out whole; a list by numbers steps through the findings, with what to do about one."""
    a_project(listener.project)
    model = listener.script(reviewers([[ROUNDS, NIT], verdict()]), [text("I fixed it.")])
    ear = listener.listens("--model", model, *FREE)
    ear.says("/review")
    ear.hears("1. Uncommitted changes: 1 file", "2. Changes against a branch: 1 commit that main has not")
    ear.says("2")
    ear.hears("1. main: the main branch")
    ear.says("1")
    ear.hears("agent Review started: the changes against main")
    ear.hears("ok: Review the changes against main", "changes requested, 2 findings", "It rounds.")
    ear.hears("P0 app.py:2 it rounds now", "`/` became **//**.", "P3 new.txt:1 a nit", "/review steps through them")
    ear.is_asked()
    ear.says("/review")
    ear.hears("1. Findings of the last review: the changes against main: 2 not dismissed")
    ear.says("1")
    ear.hears("1. P0 it rounds now: app.py:2", "2. P3 a nit: new.txt:1")
    ear.says("2")
    ear.hears("new.txt:1: a nit", "+fresh", "1. Fix this", "3. Dismiss it")
    ear.says("3")
    ear.hears("2. P3 a nit: dismissed, new.txt:1")
    ear.says("1")
    ear.hears("app.py:2: it rounds now", "2. Fix all")
    ear.says("2")
    ear.hears(
        "in the editor: Fix this finding of a review of the changes against main:", "[P0] app.py:2: it rounds now"
    )
    ear.is_asked()
    ear.says("")
    ear.hears("I fixed it.")
    ear.is_asked()
    ear.leaves()
