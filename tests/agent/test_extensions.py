"""Extensions in a real session: what a file may add, which files count, and what becomes of those that are broken."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import ToolMessage, UserMessage, text_of
from sightline.events import (
    Error,
    Notice,
    RunEnded,
    Text,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    User,
    delegation_from_details,
)
from sightline.exceptions import UserMistake
from sightline.settings._trust import trust
from tests.agent.support import Lab, kept, lab

EXAMPLE = Path(__file__).parents[2] / "examples" / "extensions" / "deploy.py"
IMPORTS = "from sightline.extension import *\n"

Start = Callable[..., AbstractAsyncContextManager[Lab]]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of the person's own extensions."""
    folder = tmp_path / "home" / "extensions"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of the project's."""
    folder = tmp_path / "work" / ".sightline" / "extensions"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def session(tmp_path: Path, own: Path) -> Start:
    """A session whose extensions are those of the test."""

    @asynccontextmanager
    async def start(turns: list[Any], **options: Any) -> AsyncIterator[Lab]:
        environ = {"SIGHTLINE_HOME": str(own.parent)}
        async with lab(tmp_path, turns, environ=environ, **options) as here:
            yield here

    return start


def notices(tmp_path: Path, here: Lab) -> list[str]:
    """Also what was told before anybody watched."""
    here.session.flush()
    return [event.text for event in kept(tmp_path, here.session.id) if isinstance(event, Notice)]


def call(tool: str, **args: object) -> list[dict[str, object]]:
    return [{"tool": tool, "args": args}]


async def test_the_example_streams_its_lines_and_shows_its_steps(session: Start, own: Path, tmp_path: Path) -> None:
    """Like a tool of ours: output as it comes, the delegation contract, and the same again from the journal."""
    shutil.copy(EXAMPLE, own)
    (own.parent / "settings.toml").write_text(
        '[extensions.options.deploy]\nsteps = { one = "echo first; echo oops >&2", two = "echo second", '
        'bad = "exit 3", never = "echo never" }\n'
    )
    async with session([call("deploy_check"), [{"text": "done"}]]) as here:
        await here.run()
        (result,) = here.of(ToolResult)
        said = "".join(event.content for event in here.of(ToolOutput))
        assert said == "$ echo first; echo oops >&2\nfirst\noops\n$ echo second\nsecond\n$ exit 3\n"
        shown = [delegation_from_details(event.details) for event in [*here.of(ToolUpdate), result]]
        stands = [[item.status for item in plan.items] for plan in shown if plan is not None]
        assert stands == [
            ["running", "pending", "pending", "pending"],
            ["ok", "running", "pending", "pending"],
            ["ok", "ok", "running", "pending"],
            ["ok", "ok", "error", "pending"],
        ]
        assert result.is_error
        assert "bad failed with exit code 3" in result.content
        session_id, seen = here.session.id, list(here.seen)
    assert kept(tmp_path, session_id)[-len(seen) :] == seen


async def test_colours_of_a_tool_are_the_same_live_and_replayed(session: Start, own: Path, tmp_path: Path) -> None:
    """What may stay in output stays, what may not goes, in both."""
    (own / "paint.py").write_text(
        IMPORTS + "def setup(extension):\n"
        "    @extension.tool\n"
        "    async def paint(context: ToolContext) -> str:\n"
        "        context.output('\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07\\n', 'stderr')\n"
        "        return 'painted'\n"
    )
    async with session([call("paint"), [{"text": "done"}]]) as here:
        await here.run()
        (live,) = here.of(ToolOutput)
        assert (live.content, live.stream) == ("\x1b[31mred\x1b[0m\n", "stderr")
        assert [e for e in kept(tmp_path, here.session.id) if isinstance(e, ToolOutput)] == [live]


async def test_the_examples_tool_refuses_what_it_does_not_know(session: Start, own: Path) -> None:
    """With what there is; wrong arguments are told like those of any tool."""
    shutil.copy(EXAMPLE, own)
    turns = [call("deploy_check", only=["nope"]), call("deploy_check", other=1), [{"text": "ok"}]]
    async with session(turns) as here:
        await here.run()
        first, second = here.of(ToolResult)
        assert first.content == "no check nope; there are syntax, tests, clean"
        assert "no argument 'other'" in second.content


async def test_the_examples_tool_needs_a_rule(session: Start, own: Path) -> None:
    """Its access class is asked for by its name."""
    shutil.copy(EXAMPLE, own)
    async with session([call("deploy_check", only=["clean"]), [{"text": "ok"}]], approval="edit") as here:
        outcome = await here.run()
        assert outcome.exit_code == 3
        (notice,) = here.of(Notice)
        assert notice.hint == "to allow it: --allow 'exec(deploy_check)'"
    async with session([call("deploy_check"), [{"text": "ok"}]], approval="edit", allow=["exec(deploy_check)"]) as here:
        assert (await here.run()).exit_code == 0


@pytest.mark.parametrize("command", ["rm -rf /", "cd x && rm -fr .", "rm -r -f y", "rm -v -Rf z"])
async def test_the_examples_guard_blocks(session: Start, own: Path, command: str) -> None:
    """The model is told, and nothing is run."""
    shutil.copy(EXAMPLE, own)
    async with session([call("bash", command=command), [{"text": "ok"}]]) as here:
        await here.run()
        (result,) = here.of(ToolResult)
        assert result.content == "not run: rm -rf is not done here; remove files by their names"
        assert not here.of(ToolOutput)


@pytest.mark.parametrize("command", ["rm -f no-such-file", "echo farm -rf", "true"])
async def test_the_examples_guard_lets_pass(session: Start, own: Path, command: str) -> None:
    """What only looks like it."""
    shutil.copy(EXAMPLE, own)
    async with session([call("bash", command=command), [{"text": "ok"}]]) as here:
        await here.run()
        assert not here.of(ToolResult)[0].is_error


async def test_a_command_runs_in_the_place_of_a_prompt(session: Start, own: Path) -> None:
    """It is a run with words, the model is not asked and hears nothing of it."""
    (own / "greet.py").write_text(
        "def setup(extension):\n    @extension.command('greet')\n    def greet(args):\n        return f'hello {args}'\n"
    )
    async with session([[{"text": "I am a model"}]]) as here:
        outcome = await here.run("/greet  you\nthere ")
        assert (outcome.exit_code, outcome.text) == (0, "hello you\nthere")
        assert [(event.text, event.source) for event in here.of(Text)] == [("hello you\nthere", "greet")]
        assert [event.text for event in here.of(User)] == ["/greet  you\nthere "]
        assert here.messages == []
        assert (await here.run("/greeting you")).text == "I am a model"
        assert (await here.run("/ greet you")).text == "the script is over"


async def test_a_command_that_fails_fails_its_run_only(session: Start, own: Path) -> None:
    """Exit code 1 and an error that names it; the session goes on."""
    (own / "bad.py").write_text(
        IMPORTS + "def setup(extension):\n"
        "    @extension.command('bad')\n    async def bad(args): raise ValueError('no luck')\n"
        "    @extension.command('sorry')\n    def sorry(args): raise ToolError('not today', 'try tomorrow')\n"
    )
    async with session([[{"text": "fine"}]]) as here:
        assert (await here.run("/bad")).exit_code == 1
        assert (await here.run("/sorry")).error == "not today"
        assert [(event.text, event.hint) for event in here.of(Error)] == [
            ("/bad failed: ValueError: no luck", ""),
            ("not today", "try tomorrow"),
        ]
        assert (await here.run("go on")).text == "fine"


async def test_a_command_can_be_stopped_and_is_alone(session: Start, own: Path) -> None:
    """It is cancelled like a run; while it runs, another is refused."""
    (own / "slow.py").write_text(
        "import asyncio\ndef setup(extension):\n    @extension.command('slow')\n"
        "    async def slow(args):\n        extension.notify('waiting')\n        await asyncio.Event().wait()\n"
    )
    async with session([]) as here:
        await here.agent.prompt("/slow")
        await here.first(Notice, lambda notice: notice.text == "waiting")
        with pytest.raises(UserMistake, match="working"):
            await here.agent.prompt("/slow")
        here.agent.stop()
        assert (await here.ended()).exit_code == 130
        assert here.of(RunEnded)[-1].stop_reason == "cancelled"


async def test_a_command_can_hand_the_model_a_prompt(session: Start, own: Path) -> None:
    """The agent works on it when the command is done."""
    shutil.copy(EXAMPLE, own)
    async with session([[{"text": "it passes"}]]) as here:
        await here.agent.prompt("/deploy")
        await here.first(Text, lambda text: text.text == "it passes")
        assert (await here.ended()).exit_code == 0
        (message,) = [each for each in here.messages if isinstance(each, UserMessage)]
        assert text_of(message).startswith("Run deploy_check.")
        assert message.origin == "deploy"


async def test_words_of_an_extension_never_stand_between_a_call_and_its_result(session: Start, own: Path) -> None:
    """No model API takes that: they come with the next request, and the person sees them."""
    (own / "tell.py").write_text(
        "def setup(extension):\n    extension.say('from setup')\n"
        "    @extension.on('before_call')\n    def before(call): extension.say('from a hook')\n"
        "    @extension.command('tell')\n    def tell(args): extension.say('from a command')\n"
    )
    async with session([call("bash", command="true"), [{"text": "ok"}]]) as here:
        await here.run("/tell")
        await here.run("go")
        kinds = [type(message).__name__ for message in here.requests[-1].messages]
        assert kinds == ["UserMessage", "UserMessage", "UserMessage", "AssistantMessage", "ToolMessage", "UserMessage"]
        told = [event.text for event in here.of(User) if event.source == "tell"]
        assert told == ["from setup", "from a command", "from a hook"]


async def test_what_is_kept_is_there_after_a_resume(session: Start, own: Path) -> None:
    """By the extension's name."""
    (own / "count.py").write_text(
        "def setup(extension):\n    @extension.command('count')\n"
        "    def count(args):\n        extension.keep((extension.kept or 0) + 1)\n        return str(extension.kept)\n"
    )
    async with session([[{"text": "ok"}]]) as here:
        await here.run("hello")
        assert (await here.run("/count")).text == "1"
        session_id = here.session.id
    async with session([[{"text": "ok"}]], resume=session_id) as here:
        assert (await here.run("/count")).text == "2"


async def test_a_projects_extensions_wait_for_trust(session: Start, project: Path, tmp_path: Path) -> None:
    """Untrusted: nothing of them runs, and that is said once. Trusted: they are loaded like one's own."""
    (project / "theirs.py").write_text(
        "open('ran', 'w')\n"
        "def setup(extension):\n    @extension.command('theirs')\n    def theirs(args): return 'yes'\n"
    )
    (project / "_helper.py").write_text("raise SystemExit")
    async with session([[{"text": "a model"}]]) as here:
        assert (await here.run("/theirs")).text == "a model"
        (told,) = [text for text in notices(tmp_path, here) if "extension" in text]
        assert told == "1 extension of this project not loaded: the folder is not trusted"
    (project / "theirs.py").write_text((project / "theirs.py").read_text().replace("open('ran', 'w')\n", ""))
    trust(tmp_path / "work")
    async with session([]) as here:
        assert (await here.run("/theirs")).text == "yes"
        assert notices(tmp_path, here) == []
    (project / "more.py").write_text("open('ran', 'w')\n")  # as a command could
    async with session([[{"text": "a model"}]]) as here:
        assert (await here.run("/theirs")).text == "a model"
        (told,) = notices(tmp_path, here)
        assert told == f"2 extensions of this project not loaded: {project.parent} changed since you trusted it"
    assert "ran" not in os.listdir()
    assert "__pycache__" not in os.listdir(project)


async def test_extensions_can_be_switched_off(session: Start, own: Path) -> None:
    """By a setting, all of them."""
    shutil.copy(EXAMPLE, own)
    async with session([], settings={"extensions.enabled": "false"}) as here:
        assert "deploy_check" not in here.agent.tools
        assert here.agent.commands == {}


TOOL = "    @extension.tool\n    async def {0}: return 'x'\n"
BROKEN = [
    pytest.param("def setup(:\n", r"broken\.py:1 is left out: SyntaxError", id="syntax error"),
    pytest.param("\nimport no_such_module\n", r"broken\.py:2 .*ModuleNotFoundError", id="missing module"),
    pytest.param("x = 1\n", "it has no function setup", id="no setup"),
    pytest.param("setup = 3\n", "it has no function setup", id="setup is no function"),
    pytest.param("async def setup(extension): pass\n", "setup is async", id="async setup"),
    pytest.param("def setup(): pass\n", "TypeError: setup.. takes 0 positional arguments", id="wrong signature"),
    pytest.param("def setup(extension):\n    1 / 0\n", r"broken\.py:2 .*ZeroDivisionError", id="raising setup"),
    pytest.param("import sys\nsys.exit(4)\n", r"broken\.py:2 .*SystemExit: 4", id="exit"),
    pytest.param(
        "import json\ndef setup(extension): json.loads('{')\n", r"broken\.py:2 .*JSONDecodeError", id="line of the file"
    ),
    pytest.param(b"\xff\xfe", "is left out: SyntaxError", id="no text"),
    pytest.param("def setup(extension):\n" + TOOL.format("read()"), "already a tool read", id="name of a builtin"),
    pytest.param("def setup(extension):\n" + TOOL.format("x()") * 2, "already a tool x", id="one name twice"),
    pytest.param("def setup(extension):\n" + TOOL.format("x(*a)"), "named arguments only", id="star arguments"),
    pytest.param("def setup(extension):\n" + TOOL.format("x(a: object())"), "TypeError", id="type is none"),
    pytest.param("def setup(extension):\n" + TOOL.format("x(a: complex)"), "TypeError", id="type without a schema"),
    pytest.param("def setup(extension):\n    extension.tool(lambda: 1)\n", "not an async function", id="not async"),
    pytest.param("def setup(extension):\n    extension.add_tool(3)\n", "not a tool: 3", id="no tool"),
    pytest.param("def setup(extension):\n    extension.command('/x')\n", "is not a command name", id="slash"),
    pytest.param("def setup(extension):\n    extension.on('later')\n", "unknown moment 'later'; use", id="moment"),
]


@pytest.mark.parametrize(("text", "says"), BROKEN)
async def test_a_broken_file_is_told_and_left_out_whole(
    session: Start, own: Path, tmp_path: Path, text: str | bytes, says: str
) -> None:
    """What it had added until then as well; the others are loaded, the session works."""
    if isinstance(text, str) and "def setup(extension):\n" in text:
        added = "    @extension.command('half')\n    def half(args): return 'half'\n"
        text = text.replace("def setup(extension):\n", "def setup(extension):\n" + added)
        says = says.replace(":2 ", ":4 ")
    (own / "broken.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    (own / "good.py").write_text("def setup(extension):\n    @extension.command('good')\n    def good(args): pass\n")
    async with session([[{"text": "works"}]]) as here:
        (told,) = [each for each in notices(tmp_path, here) if "left out" in each]
        assert re.search(says, told), told
        assert list(here.agent.commands) == ["good"]
        assert (await here.run()).text == "works"


async def test_of_two_files_with_one_name_the_persons_own_counts(
    session: Start, own: Path, project: Path, tmp_path: Path
) -> None:
    """Nothing in a project takes the place of what is the person's."""
    for folder in (own, project):
        who = "mine" if folder == own else "theirs"
        (folder / "same.py").write_text(
            f"def setup(extension):\n    @extension.command('who')\n    def who(args): return '{who}'\n"
        )
    trust(tmp_path / "work")
    async with session([]) as here:
        assert (await here.run("/who")).text == "mine"
        (told,) = notices(tmp_path, here)
        assert f"{project / 'same.py'} is left out: ValueError: {own / 'same.py'} has the same name" in told


async def test_a_hook_that_hangs_is_not_waited_for_for_ever(session: Start, own: Path) -> None:
    """It counts as having said nothing, and is told."""
    (own / "hang.py").write_text(
        "import asyncio\ndef setup(extension):\n    @extension.on('before_call')\n"
        "    async def hang(call): await asyncio.Event().wait()\n"
    )
    async with session([call("bash", command="echo through"), [{"text": "ok"}]]) as here:
        here.agent.hooks.patience = 0.05
        await here.run()
        assert here.of(ToolResult)[0].content == "through"
        (notice,) = here.of(Notice)
        assert notice.text == "extension hang: TimeoutError: no answer in 0.05 s"


async def test_a_tool_that_is_stopped_cleans_up(session: Start, own: Path, tmp_path: Path) -> None:
    """Being cancelled is asyncio's own way, also for the process it started."""
    shutil.copy(EXAMPLE, own)
    (own.parent / "settings.toml").write_text(
        '[extensions.options.deploy]\nsteps = { long = "echo $$ > pid; echo begun; exec sleep 600" }\n'
    )
    async with session([call("deploy_check"), [{"text": "never"}]]) as here:
        await here.agent.prompt("go")
        await here.first(ToolOutput, lambda event: event.content == "begun\n")
        here.agent.stop()
        assert (await asyncio.wait_for(here.ended(), 10)).exit_code == 130
        pid = int((tmp_path / "work" / "pid").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_tool_written_as_a_class_and_types_of_its_own(session: Start, own: Path) -> None:
    """The schema says what the annotations say; what a call needs can depend on its arguments."""
    (own / "typed.py").write_text(
        IMPORTS + "from typing import Annotated, Literal\nimport msgspec\n"
        "class Place(msgspec.Struct):\n    row: int\n    column: int = 1\n"
        "class Params(msgspec.Struct):\n    place: Place\n"
        "class Mark(Tool[Params]):\n    name = 'mark'\n    description = 'Mark a place.'\n    params = Params\n"
        "    async def execute(self, params, context): return Outcome(text=repr(params.place))\n"
        "def setup(extension):\n    extension.add_tool(Mark())\n"
        "    @extension.tool(name='fetch-it', needs=lambda host, how: [Need('network', host)])\n"
        "    async def fetch(host: Annotated[str, msgspec.Meta(description='where')], how: Literal['a', 'b'] = 'a'):\n"
        "        'Fetch it.'\n        return f'{host} {how}'\n"
    )
    turns = [[*call("mark", place={"row": "3"}), *call("fetch-it", host="example.org")], [{"text": "ok"}]]
    async with session(turns, allow=["network(example.org)"]) as here:
        await here.run()
        texts = [text_of(each) for each in here.messages if isinstance(each, ToolMessage)]
        assert texts == ["Place(row=3, column=1)", "example.org a"]
        (spec,) = [spec for spec in here.requests[0].tools if spec.name == "fetch-it"]
        assert spec.description == "Fetch it."
        assert b'"description":"where"' in bytes(spec.parameters)


PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "extensions.md").read_text()


async def test_the_extensions_of_the_guide_work(session: Start, own: Path, tmp_path: Path) -> None:
    """As they stand there."""
    for number, snippet in enumerate(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)):
        (own / f"guide{number}.py").write_text(snippet)
    calls = [*call("dice", sides=6), *call("release"), *call("write", path="uv.lock", content="x")]
    async with session([calls, [{"text": "ok"}]]) as here:
        await here.run()
        assert notices(tmp_path, here) == []
        dice, release, write = [here_result.content for here_result in sorted(here.of(ToolResult), key=lambda r: r.id)]
        assert 1 <= int(dice) <= 6
        assert release == "released"
        assert write == "not run: lock files are made by their own tools"
        assert delegation_from_details(here.of(ToolUpdate)[0].details) is not None
        assert (await here.run("/hello world")).text == "Hello, world."
