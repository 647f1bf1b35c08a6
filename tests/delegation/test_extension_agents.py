"""Agents that extensions define: what they may say, who comes first, what is run to list them, and what is refused."""

import re
from pathlib import Path
from typing import Any

import pytest

from sightline.delegation import find_agents_here
from sightline.delegation.definitions._extension_agents import AgentDefinitions
from sightline.events import AgentState, Notice, State, ToolResult, state_fact
from sightline.settings._trust import trust
from tests.agent.support import Lab, kept, lab
from tests.cli.support import sightline
from tests.delegation.support import write
from tests.delegation.teamwork import call, handed_back, of_agent, result_of, started, text

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "extensions.md"
ONE = """
def agents(definitions):
    definitions.add("{name}", description="{about}", instructions="Do it.", {more})
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to be in, and a home without agents."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "own"))
    return folder


def environ(tmp_path: Path) -> dict[str, str]:
    return {"SIGHTLINE_HOME": str(tmp_path / "own"), "HOME": str(tmp_path / "home")}


def extension(folder: Path, name: str, source: str) -> Path:
    folder = folder / "extensions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(source)
    return folder / f"{name}.py"


def one(name: str, about: str = "for a test", more: str = "") -> str:
    return ONE.format(name=name, about=about, more=more)


def notices(tmp_path: Path, here: Lab) -> list[str]:
    """Also those published before anybody watched."""
    here.session.flush()
    return [event.text for event in kept(tmp_path, here.session.id) if isinstance(event, Notice)]


def session(tmp_path: Path, turns: list[Any], **options: Any) -> Any:
    return lab(tmp_path, turns, environ={"SIGHTLINE_HOME": str(tmp_path / "home")}, **options)


# ---- in a session


async def test_the_example_of_the_guide_can_be_started(tmp_path: Path) -> None:
    """As it stands there: the agent has the tool of its extension, and no more than its definition names."""
    snippets = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (snippet,) = [snippet for snippet in snippets if "def agents" in snippet]
    file = extension(tmp_path / "home", "teams", snippet)
    asked = [[call("owners", path="src/search/index.py")], [call("bash", command="ls")], handed_back("the search team")]
    turns = [[started({"One": asked}, "ask-search")], [text("So.")]]
    async with session(tmp_path, turns) as here:
        await here.run()
        assert "Agent `One` (ask-search) is done" in result_of(here).content
        results = [event.content for event in of_agent(here, "One", ToolResult)]
        assert results[0] == "search"
        assert "no tool 'bash'" in results[1]
        facts = [state_fact(event) for event in here.seen if isinstance(event, State) and event.agent == "One"]
        assert {(each.definition, each.extension) for each in facts if isinstance(each, AgentState)} == {
            ("ask-search", str(file))
        }
        (request, *_) = here.requests
        assert "ask-billing" in str(request.tools)
        assert notices(tmp_path, here) == []


GOOD = {"name": "'x'", "description": "'d'", "instructions": "'i'"}


def added(**fields: str) -> str:
    """A line that adds an agent; the fields as source."""
    given = GOOD | fields
    return f"definitions.add({given.pop('name')}, {', '.join(f'{name}={value}' for name, value in given.items())})"


BAD = {
    "a wrong type": (added(instructions="3"), "instructions must be text"),
    "no such model": (added(model="['a']"), "model must be text"),
    "no such level": (added(approval="'all'"), "approval must be one of"),
    "no such provider": (added(provider="'me'"), "provider must be one of"),
    "a scripted model": (added(model="'scripted:x'"), "a scripted model"),
    "a bad name": (added(name="'../x'"), "its name is"),
    "a hostile name": (added(name=r"'\x1b[31m\n' * 99"), "its name is"),
    "a number as a list": (added(tools="5"), "tools must be a list of names"),
    "no description": (added(description="' '"), "it has no description"),
    "no instructions": (added(instructions="''"), "it has no instructions"),
    "huge instructions": (added(instructions="'x' * 10**7"), "it is larger than 256 KB"),
    "a huge description": (added(description="'x' * 10**7"), "it is larger than 256 KB"),
    "a huge schema": (added(output="{'a': 'x' * 10**6}"), "output is larger"),
    "a schema without an end": (f"o = {{}}; o['o'] = o; {added(output='o')}", ""),
    "twice": (f"{added()}; {added()}", "there is already an agent x"),
    "too many": (f"[{added(name=repr('x%d') + ' % n')} for n in range(501)]", "more than 500 agents"),
    "an unknown field": (added(colour="'red'"), "colour"),
    "an exit": ("raise SystemExit('enough')", "SystemExit: enough"),
    "a long reason": (r"raise ValueError('\x1b[31m\n' * 10**6)", "ValueError"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_definition_leaves_out_those_of_its_file_alone(tmp_path: Path, name: str) -> None:
    """With one clear line that names the file; its tools and the agents of others are there, and the session works."""
    source, why = BAD[name]
    setup = "def setup(extension):\n    @extension.tool\n    async def hi() -> str:\n        return 'hi'\n"
    first = "definitions.add('before', description='d', instructions='i')"
    file = extension(tmp_path / "home", "bad", f"{setup}\ndef agents(definitions):\n    {first}\n    {source}\n")
    extension(tmp_path / "home", "good", one("good-one"))
    turns = [[started({"One": [handed_back()]}, "good-one")], [call("hi")], [text("So.")]]
    async with session(tmp_path, turns) as here:
        await here.run()
        assert "Agent `One` (good-one) is done" in result_of(here).content
        assert result_of(here, 1).content == "hi"
        (notice,) = notices(tmp_path, here)
        assert notice.startswith(f"agents() of the extension {file}:")
        assert why in notice
        assert len(notice) < 1000 + len(str(file))
        assert "\x1b" not in notice
        assert "before" not in here.running.worker.team.catalogue().agents


@pytest.mark.parametrize("source", ["agents = 5", "async def agents(definitions): ...", "def agents(): ..."])
async def test_what_is_no_such_function_is_reported(tmp_path: Path, source: str) -> None:
    file = extension(tmp_path / "home", "bad", source)
    async with session(tmp_path, [[text("So.")]]) as here:
        await here.run()
        (notice,) = notices(tmp_path, here)
        assert notice.startswith(f"agents() of the extension {file}")
        assert "TypeError" in notice


async def test_a_file_whose_setup_fails_is_left_out_whole(tmp_path: Path) -> None:
    extension(tmp_path / "home", "bad", one("never") + "\ndef setup(extension):\n    1/0\n")
    async with session(tmp_path, [[text("So.")]]) as here:
        await here.run()
        assert "never" not in here.running.worker.team.catalogue().agents


async def test_it_is_asked_once_for_a_session(tmp_path: Path) -> None:
    """And loaded once, with the rest of its file."""
    log = tmp_path / "log"
    note = "with open({!r}, 'a') as log: log.write({!r})\n"
    source = note.format(str(log), "loaded ") + one("x").replace(
        "def agents(definitions):\n", "def agents(definitions):\n    " + note.format(str(log), "asked ")
    )
    extension(tmp_path / "home", "counted", source)
    turns = [[started({"One": [handed_back()]}, "x")], [started({"Two": [handed_back()]}, "x")], [text("So.")]]
    async with session(tmp_path, turns) as here:
        await here.run()
        assert log.read_text() == "loaded asked "


# ---- without one


def test_they_are_listed_with_their_file(work: Path, tmp_path: Path) -> None:
    """Between the user's own and those that come with the program; which of one name counts, and which is hidden."""
    file = extension(
        tmp_path / "own",
        "mine",
        one("explore", "Mine.") + one("mine", more="model='small'")[1:].replace("def agents(definitions):\n", ""),
    )
    write(tmp_path / "own" / "agents" / "mine.md", description="From a file")
    found = find_agents_here(work, environ(tmp_path))
    assert found.notices == []
    assert (found.get("explore").source, found.get("explore").file) == ("extension", str(file))
    assert found.get("mine").source == "user"
    assert [(each.name, each.source) for each in found.shadowed] == [("mine", "extension"), ("explore", "bundled")]
    listed = sightline("agents")
    assert listed.returncode == 0, listed.stderr
    rows = listed.stdout.decode().splitlines()
    at = next(number for number, row in enumerate(rows) if re.match(r"explore +extension ", row))
    assert [row.strip() for row in rows[at + 1 : at + 3]] == ["Mine.", str(file)]
    whole = sightline("agents", "explore").stdout.decode()
    assert f"file      {file}" in whole
    assert whole.endswith("\nDo it.\n")


def test_nothing_of_a_folder_that_is_not_trusted_is_run(work: Path, tmp_path: Path) -> None:
    """Not to list them, either. A note names how to trust it; trusted, they are there, and changed they are not."""
    mark = tmp_path / "ran"
    source = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n" + one("theirs")
    file = extension(work / ".sightline", "theirs", source)
    listed = sightline("agents")
    assert listed.returncode == 0
    assert b"theirs" not in listed.stdout
    assert b"1 extension of this project not loaded: the folder is not trusted" in listed.stderr
    assert not mark.exists()
    trust(work)
    assert find_agents_here(work, environ(tmp_path)).get("theirs").file == str(file)
    assert mark.exists()
    mark.unlink()
    file.write_text(source + "# changed\n")
    assert "theirs" not in find_agents_here(work, environ(tmp_path)).agents
    assert not mark.exists()


def test_switched_off_none_is_run(work: Path, tmp_path: Path) -> None:
    """`extensions.enabled`."""
    extension(tmp_path / "own", "mine", "raise AssertionError\n")
    (tmp_path / "own" / "settings.toml").write_text("[extensions]\nenabled = false\n")
    found = find_agents_here(work, environ(tmp_path))
    assert found.notices == []


def test_one_that_cannot_be_loaded_is_a_note(work: Path, tmp_path: Path) -> None:
    """The others are listed."""
    extension(tmp_path / "own", "broken", "1/0\n")
    extension(tmp_path / "own", "good", one("good-one"))
    listed = sightline("agents")
    assert listed.returncode == 0
    assert b"good-one" in listed.stdout
    assert b"broken.py:1 is left out: ZeroDivisionError" in listed.stderr


def test_its_options_and_the_folder_are_known_to_it(work: Path, tmp_path: Path) -> None:
    extension(
        tmp_path / "own",
        "teams",
        "def agents(definitions):\n    for team in definitions.options['teams']:\n"
        "        definitions.add(team, description=f'{definitions.name} {definitions.cwd}', instructions='i')\n",
    )
    (tmp_path / "own" / "settings.toml").write_text("[extensions.options.teams]\nteams = ['a', 'b']\n")
    found = find_agents_here(work, environ(tmp_path))
    assert [found.get(name).description for name in ("a", "b")] == [f"teams {work}"] * 2


def test_a_flow_may_name_one(work: Path, tmp_path: Path) -> None:
    """It is looked for before its session has begun; one that there is not ends the command."""
    extension(tmp_path / "own", "mine", one("mine"))
    script = tmp_path / "script.json"
    script.write_text('[[{"text": "Done by the agent."}]]')
    flow = "name: f\nsteps:\n  - {{id: a, agent: {}, model: 'scripted:" + str(script) + "', prompt: Go.}}\n"
    (work / "flow.yaml").write_text(flow.format("mine"))
    done = sightline("flow", "run", "flow.yaml")
    assert (done.returncode, b"Done by the agent." in done.stdout) == (0, True), done.stderr
    (work / "flow.yaml").write_text(flow.format("theirs"))
    refused = sightline("flow", "run", "flow.yaml")
    assert (refused.returncode, b"no agent theirs" in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"tools": "read, edit"}, {"tools": ("read", "edit")}),
        ({"tools": ("read",), "without": ["bash"]}, {"tools": ("read",), "without": ("bash",)}),
        ({"tools": "*"}, {"tools": None}),
        ({"tools": []}, {"tools": ()}),
        ({"spawns": True}, {"spawns": ("*",)}),
        ({"spawns": ["explore"]}, {"spawns": ("explore",)}),
        ({"model": "inherit"}, {"model": ""}),
        ({"provider": "codex", "approval": "plan"}, {"provider": "codex", "approval": "plan"}),
        ({"output": {"type": "object"}, "blocking": True}, {"output": {"type": "object"}, "blocking": True}),
        ({"isolated": True, "thinking": "low"}, {"isolated": True, "thinking": "low"}),
        ({"tools": ["one-of-an-extension"]}, {"tools": ("one-of-an-extension",)}),
    ],
)
def test_fields_mean_what_they_mean_in_a_file(given: dict[str, Any], expected: dict[str, object]) -> None:
    definitions = AgentDefinitions("x", Path("/x.py"), Path("/"), None)
    found = definitions.run(lambda each: each.add("one", description="d", instructions="i", **given))
    assert found.problem == ""
    (definition,) = found.agents
    assert {name: getattr(definition, name) for name in expected} == expected
