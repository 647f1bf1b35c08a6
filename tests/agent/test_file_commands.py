"""Slash commands from Markdown files, in a real session: what is run, what is sent, and what is refused."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.actors import bounded_value
from sightline.agent.commands import _expansion
from sightline.agent.commands._discovery import MOST_COMMANDS
from sightline.conversation import UserMessage, text_of
from sightline.events import Error, ModelState, Notice, RunEnded, State, ToolOutput, ToolResult, ToolUse, User
from sightline.exceptions import UserMistake
from sightline.settings._trust import trust
from tests.agent.support import Lab, lab, write_script

Start = Callable[..., AbstractAsyncContextManager[Lab]]
DONE = [[{"text": "done"}]]

# In the shape of commands that people have in their repositories.
COMMIT = """\
---
allowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit:*)
argument-hint: [message] [--amend]
description: Write a commit: what changed, and why
---

## What there is

- Changes: !`printf 'M  one.py\\nA  two.py\\n'`
- Branch: !`echo main`

## What to do

Commit these changes. Their subject is: $ARGUMENTS. See @notes/style.md for the form.
"""

GREET = """\
def setup(extension):
    @extension.command("greet")
    def greet(text):
        "Say hello."
        return "hello"
"""


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """A session in `work`, whose user has `home` as a home folder and `own` as Sightline's."""
    environ = {"SIGHTLINE_HOME": str(tmp_path / "own"), "HOME": str(tmp_path / "home")}

    @asynccontextmanager
    async def begin(turns: list[Any] = DONE, **options: Any) -> AsyncIterator[Lab]:
        async with lab(tmp_path, turns, environ=environ, **options) as here:
            yield here

    return begin


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own" / "commands"


def sent(here: Lab) -> list[tuple[str, str]]:
    """The messages the model was sent: by whom, and the text."""
    return [(each.origin, text_of(each)) for each in here.messages if isinstance(each, UserMessage)]


def shown(here: Lab) -> list[tuple[str, str]]:
    return [(event.source, event.text) for event in here.of(User)]


async def test_a_command_of_another_tool_works_unchanged(start: Start, tmp_path: Path) -> None:
    """Its commands run, its files are read, what was typed is the user's, and what it became is not."""
    write(tmp_path / "work", ".claude/commands/commit.md", COMMIT)
    write(tmp_path / "work", "notes/style.md", "One line, in the present tense.\n")
    trust(tmp_path / "work")
    async with start() as here:
        outcome = await here.run('/commit the "second" file')
        assert (outcome.exit_code, outcome.text) == (0, "done")
        (typed, expanded) = sent(here)
        assert typed == ("", '/commit the "second" file')
        assert shown(here) == [("person", typed[1]), ("command", expanded[1])]
        origin, text = expanded
        assert origin == "command"
        assert "- Changes: M  one.py\nA  two.py\n- Branch: main\n" in text
        assert 'Their subject is: the "second" file. See @notes/style.md for the form.' in text
        assert "allowed-tools" not in text
        assert '<file path="notes/style.md">' in text
        assert "One line, in the present tense." in text
        assert [(use.native_name, use.source) for use in here.of(ToolUse)] == [
            ("bash", "command"),
            ("bash", "command"),
            ("read", "command"),
        ]
        assert "".join(event.content for event in here.of(ToolOutput)) == "M  one.py\nA  two.py\nmain\n"
        kinds = [type(event) for event in here.seen]
        assert kinds.index(User) < kinds.index(ToolUse), "what the user typed is shown first"
        assert len(here.requests) == 1


@pytest.mark.parametrize(
    ("text", "typed", "expected"),
    [
        ("Fix $1 in $2.", '"a b" c', "Fix a b in c."),
        ("Fix $1 and $3.", "one", "Fix one and ."),
        ("All of it: $ARGUMENTS", "it's $1 !`id`", "All of it: it's $1 !`id`"),
        ("Nothing is named", "but typed", "Nothing is named\n\nARGUMENTS: but typed"),
        ("It costs $100 for @nobody and a@b.example", "", "It costs $100 for @nobody and a@b.example"),
        ("Before.\n\n```!\necho one\necho two\n```\n\nAfter.", "", "Before.\n\none\ntwo\n\nAfter."),
        ("Not a command: x!`id` or `!id`", "", "Not a command: x!`id` or `!id`"),
        ("Quiet: !`true`.", "", "Quiet: ."),
        ("Args: !`printf '<%s>' $ARGUMENTS`", "a 'b c' ; id", "Args: <a><b c><;><id>"),
        ('Quoted: !`printf "<%s>" "$1"`', "'$(id)`id`'", "Quoted: <$(id)`id`>"),
        ('Quoted: !`printf "$1"`', "'$(id)'", "Quoted: $(id)"),
    ],
)
async def test_what_is_typed_is_put_in(start: Start, own: Path, text: str, typed: str, expected: str) -> None:
    """As text in the text, and as arguments in a command; never as something that is run."""
    write(own, "fix.md", text)
    async with start() as here:
        outcome = await here.run(f"/fix {typed}".strip())
        assert outcome.exit_code == 0, outcome.error
        assert sent(here)[1] == ("command", expected)


async def test_arguments_that_a_shell_could_run_are_refused_within_quotes(start: Start, own: Path) -> None:
    """Where quoting cannot be certain, nothing runs and nothing is sent."""
    write(own, "find.md", "Found: !`bash -c 'echo $1'`")
    async with start() as here:
        outcome = await here.run("/find ';id'")
        assert outcome.exit_code == 2
        assert outcome.error.startswith("/find was not sent: these arguments have characters that a shell would read")
        assert (here.of(ToolUse), sent(here), here.requests) == ([], [], [])


async def test_a_command_that_fails_ends_it(start: Start, own: Path) -> None:
    """The next piece is not run, nothing is sent, and the next prompt does not have it."""
    write(own, "check.md", "!`echo so far; exit 3`\n!`touch never`\n@never\nCheck it.")
    async with start() as here:
        outcome = await here.run("/check")
        assert outcome.exit_code == 1
        assert outcome.error == "/check was not sent: `echo so far; exit 3` failed: [exit code 3]"
        (use,) = here.of(ToolUse)
        assert [event.id for event in here.of(ToolResult)] == [use.id]
        assert (sent(here), here.requests) == ([], [])
        assert shown(here) == [("person", "/check")]
        assert [event.text for event in here.of(Error)] == [outcome.error]
        assert [event.is_error for event in here.of(RunEnded)] == [True]
        await here.run("hello")
        assert sent(here) == [("", "hello")]


async def test_rules_apply_to_what_a_file_chose(start: Start, own: Path, tmp_path: Path) -> None:
    """A front matter that allows it changes nothing."""
    write(own, "go.md", "---\nallowed-tools: Bash(touch:*)\n---\n!`touch made`\nGo.")
    async with start(approval="edit") as here:
        outcome = await here.run("/go")
        assert outcome.exit_code == 3
        assert outcome.error == "/go was not sent: `touch made` was refused: no user was there to ask"
        assert any(event.text.startswith("refused, no user to ask") for event in here.of(Notice))
        assert sent(here) == []
    async with start(deny=["exec(touch*)"]) as here:
        assert "rule: exec(touch*)" in (await here.run("/go")).error
    assert not (tmp_path / "work/made").exists()


async def test_a_file_is_read_only_where_the_agent_may(start: Start, own: Path, tmp_path: Path) -> None:
    """Rules and links: as with `read`."""
    secret = write(tmp_path, "outside.txt", "a secret")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/link.txt").symlink_to(secret)
    write(tmp_path / "work", "private.txt", "mine")
    write(own, "out.md", "Look at @link.txt")
    write(own, "mine.md", "Look at @private.txt")
    async with start(approval="edit", deny=["read(private.txt)"]) as here:
        assert "`@link.txt` was refused" in (await here.run("/out")).error
        assert "rule: read(private.txt)" in (await here.run("/mine")).error
        assert (sent(here), here.requests) == ([], [])


async def test_stopping_ends_its_command(start: Start, own: Path) -> None:
    """Escape, while a piece runs."""
    write(own, "wait.md", "!`echo begun; sleep 1000`\nGo.")
    async with start() as here:
        await here.agent.prompt("/wait")
        await here.first(ToolOutput)
        here.agent.stop()
        outcome = await here.ended()
        assert (outcome.exit_code, outcome.stop_reason) == (130, "cancelled")
        assert len(here.of(ToolResult)) == 1
        assert (sent(here), here.requests) == ([], [])


async def test_one_call_of_it_can_be_cancelled(start: Start, own: Path) -> None:
    """That is a failure of the command."""
    write(own, "wait.md", "!`echo begun; sleep 1000`\nGo.")
    async with start() as here:
        await here.agent.prompt("/wait")
        output = await here.first(ToolOutput)
        assert here.agent.cancel_call(output.id)
        assert (await here.ended()).error.startswith("/wait was not sent: `echo begun; sleep 1000` failed: [cancelled")


async def test_a_piece_changes_nothing_for_the_agents_commands(start: Start, own: Path, tmp_path: Path) -> None:
    """It runs in the workspace, and its `cd` ends with it."""
    (tmp_path / "work/below").mkdir(parents=True)
    write(own, "cd.md", "!`cd below && export A=1 && pwd`\n!`pwd`")
    turns = [[{"tool": "bash", "args": {"command": "pwd; echo [$A]"}}], [{"text": "done"}]]
    async with start(turns) as here:
        await here.run("/cd")
        assert sent(here)[1][1] == f"{tmp_path}/work/below\n{tmp_path}/work"
        assert here.of(ToolResult)[-1].content == f"{tmp_path}/work\n[]"


async def test_a_model_is_for_one_run(start: Start, own: Path, tmp_path: Path) -> None:
    """The session has its own before and after that."""
    other = write_script(tmp_path / "other", [[{"text": "by the other"}]])
    write(own, "small.md", "---\nmodel: small\n---\nGo.")
    turns = [[{"text": "not asked"}], [{"text": "done"}]]
    async with start(turns, settings={"models.small": other}) as here:
        before = here.agent.model.name
        assert (await here.run("/small")).text == "by the other"
        models = [event.value for event in here.of(State) if event.key == ModelState.KEY]
        assert models == [
            ModelState(f"scripted:{tmp_path}/other/script.json").as_state().value,
            ModelState(before).as_state().value,
        ]
        assert here.agent.model.name == before
        assert (await here.run("hello")).text == "done"


async def test_a_model_that_cannot_be_used_is_an_error(start: Start, own: Path) -> None:
    """No other one answers instead."""
    write(own, "other.md", "---\nmodel: nowhere/at-all\n---\n!`echo never`\nGo.")
    async with start() as here:
        outcome = await here.run("/other")
        assert outcome.exit_code == 2
        assert outcome.error.startswith("no model nowhere/at-all")
        assert shown(here) == [("person", "/other")]
        assert (here.of(ToolUse), sent(here), here.requests) == ([], [], [])


async def test_bounds(start: Start, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an error that names it."""
    write(own, "many.md", "!`true`\n" * 21 + "@nobody " * 30)
    write(own, "names.md", "@nobody " * 30)
    write(own, "large.md", "!`head -c 40000 /dev/zero | tr '\\0' 'a'`\n" * 2)
    write(own, "slow.md", "!`sleep 1000`")
    monkeypatch.setattr(_expansion, "LARGEST_EXPANSION", 50_000)
    monkeypatch.setattr(_expansion, "SECONDS_OF_A_PIECE", 0.2)
    async with start() as here:
        assert (await here.run("/many")).error == "/many was not sent: it has more than 20 commands and files"
        assert (await here.run("/names")).exit_code == 0
        assert "more than 50,000" in (await here.run("/large")).error
        assert "timed out" in (await here.run("/slow")).error
        assert len(here.requests) == 1


# Which there are


async def test_an_untrusted_project_has_none(start: Start, tmp_path: Path) -> None:
    """They are neither offered nor run nor sent as words; a change ends the trust again."""
    file = write(tmp_path / "work", ".claude/commands/deploy.md", "!`touch made`\nDeploy.")
    async with start() as here:
        assert here.agent.file_commands is not None
        assert here.agent.file_commands.offered().commands == []
        with pytest.raises(UserMistake, match="/deploy cannot be used: its folder is not trusted"):
            await here.agent.prompt("/deploy now")
        assert here.requests == []
    trust(tmp_path / "work")
    file.write_text("!`touch made`\nDeploy all.")
    async with start() as here:
        with pytest.raises(UserMistake, match="it changed since you trusted its folder"):
            await here.agent.prompt("/deploy now")
    assert not (tmp_path / "work/made").exists()


async def test_which_one_counts(start: Start, own: Path, tmp_path: Path) -> None:
    """The console's, then extensions', the project's, the user's; subfolders are part of the name."""
    extensions = own.parent / "extensions"
    write(extensions, "greet.py", GREET)
    write(
        tmp_path / "work", ".sightline/commands/fix.md", "---\nargument-hint: [issue] [priority]\n---\n# Fix it\n\nNow."
    )
    write(tmp_path / "work", ".claude/commands/fix.md", "Claude's")
    write(tmp_path / "work", ".claude/commands/sc/plan.md", '---\ndescription: "Plan\\e[31m it"\n---\nPlan.')
    write(own, "fix.md", "User's")
    write(own, "status.md", "Not this one")
    write(own, "greet.md", "Nor this one")
    write(tmp_path / "home", ".claude/commands/mine.md", "Mine")
    trust(tmp_path / "work")
    async with start() as here:
        assert here.agent.file_commands is not None
        found = [(one.name, one.about, one.args, one.source) for one in here.agent.file_commands.offered().commands]
        assert found == [
            ("greet", "Say hello.", "", "extension"),
            ("fix", "Fix it", "[issue] [priority]", "project"),
            ("sc:plan", "Plan it", "", "project"),
            ("mine", "Mine", "", "user"),
        ]
        assert (await here.run("/greet")).text == "hello"
        await here.run("/sc:plan")
        assert sent(here)[-1] == ("command", "Plan.")


async def test_it_waits_for_the_agent(start: Start, own: Path) -> None:
    """While the agent works, a command is refused; words after it are read when it has been sent."""
    write(own, "wait.md", "!`echo begun; until [ -e go ]; do sleep 0.01; done`\nGo.")
    async with start([[{"text": "one"}], [{"text": "two"}]]) as here:
        await here.agent.prompt("/wait")
        await here.first(ToolOutput)
        with pytest.raises(UserMistake, match="the agent is working"):
            await here.agent.prompt("/wait")
        await here.agent.prompt("and this")
        (here.agent.workplace.cwd / "go").touch()
        await here.ended()
        assert [text for _, text in sent(here)] == ["/wait", "begun\nGo.", "and this"]


async def test_after_a_resume_it_is_still_not_the_users(start: Start, own: Path) -> None:
    """Nor is its text the title."""
    write(own, "fix.md", "A long text.")
    async with start() as here:
        await here.run("/fix")
        session = here.session.id
    async with start(resume=session) as here:
        assert sent(here) == [("", "/fix"), ("command", "A long text.")]


async def test_all_that_can_be_used_are_offered(start: Start, own: Path) -> None:
    """However long their words are, one event has them."""
    for number in range(MOST_COMMANDS):
        head = f"description: {'😀' * 2000}\nargument-hint: {'😀' * 2000}"
        write(own, f"{'n' * 90}{number:03}.md", f"---\n{head}\n---\nGo.")
    async with start() as here:
        assert here.agent.file_commands is not None
        value = here.agent.file_commands.offered().value
        assert bounded_value(value) == value
        assert len(value) == MOST_COMMANDS
