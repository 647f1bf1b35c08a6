"""Which agents there are: precedence, trust, and folders that hold anything at all."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.delegation import AgentCatalogue, AgentDefinition, find_agents
from sightline.delegation.definitions._discovery import bundled_agents
from sightline.exceptions import UserMistake
from sightline.handles import Grants, granted
from sightline.settings import _digest
from sightline.settings._trust import trust
from sightline.text import clean_text

from .support import write

BUNDLED = {"designer", "explore", "librarian", "oracle", "plan", "quick_task", "reviewer", "task"}


class Place:
    """A home, a repository, and a look at the agents there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        self.environ = {"HOME": str(self.home), "SIGHTLINE_HOME": os.environ["SIGHTLINE_HOME"]}
        self.own = Path(os.environ["SIGHTLINE_HOME"]) / "agents"
        (self.work / ".git").mkdir(parents=True)
        self.home.mkdir()

    def find(self, below: str = "", **options: object) -> AgentCatalogue:
        return find_agents(self.work / below, self.environ, **options)  # type: ignore[arg-type]

    def file_of(self, name: str, below: str = "") -> str:
        """Where the agent of that name comes from, without this test's folder."""
        file = self.find(below).get(name).file
        return file.replace(str(self.own), "OWN").replace(str(self.home), "HOME").replace(f"{self.work}/", "")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_any_file_there_are_those_of_the_program(place: Place) -> None:
    """And nothing is reported."""
    found = place.find()
    assert found.agents.keys() == BUNDLED
    assert {agent.source for agent in found.agents.values()} == {"bundled"}
    assert (found.shadowed, found.notices) == ([], [])


def test_precedence(place: Place) -> None:
    """The project's, the user's, those of extensions, those of the program; of each the folders in their order."""
    folders = [
        place.work / ".sightline/agents",
        place.work / ".claude/agents",
        place.work / ".opencode/agent",
        place.work / ".opencode/agents",
        place.own,
        place.home / ".claude/agents",
        place.home / ".config/opencode/agent",
        place.home / ".config/opencode/agents",
    ]
    files = [write(folder / "explore.md") for folder in folders]
    extension = AgentDefinition(name="explore", description="x", prompt="x", source="extension")
    for number, file in enumerate(files):
        trust(place.work)
        found = place.find(extra=[extension])
        assert found.get("explore").file == str(file)
        assert found.get("explore").source == ("project" if number < 4 else "user")
        assert [each.file for each in found.shadowed] == [*map(str, files[number + 1 :]), "", ""]
        assert found.notices == []
        file.unlink()
    found = place.find(extra=[extension])
    assert found.get("explore") is extension
    assert [each.source for each in found.shadowed] == ["bundled"]


def test_the_style_is_that_of_the_folder(place: Place) -> None:
    """Claude Code's `opus` is a role here, and in a file of ours the name of a model."""
    for folder in (place.own, place.home / ".claude/agents", place.home / ".config/opencode/agents"):
        write(folder / f"{folder.parent.name.strip('.')}.md", model="opus")
    found = place.find()
    assert (found.get("claude").style, found.get("claude").model) == ("claude", "slow")
    assert (found.get("opencode").style, found.get("opencode").model) == ("opencode", "opus")
    assert (found.get(place.own.parent.name).style, found.get(place.own.parent.name).model) == ("sightline", "opus")


def test_variables_move_the_users_folders(place: Place, tmp_path: Path) -> None:
    """Those of Claude Code and of OpenCode."""
    place.environ |= {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "XDG_CONFIG_HOME": str(tmp_path / "x")}
    write(tmp_path / "c/agents/a.md")
    write(tmp_path / "x/opencode/agent/b.md")
    assert {"a", "b"} <= place.find().agents.keys()


def test_the_nearest_folder_up_to_the_repository_counts(place: Place) -> None:
    """Each kind by itself; what is above the repository is not looked at."""
    write(place.work / ".claude/agents/a.md")
    write(place.work / "deep/.claude/agents/a.md")
    write(place.work / ".opencode/agent/b.md")
    write(place.work.parent / ".sightline/agents/c.md")
    (place.work / "deep/er").mkdir()
    trust(place.work)
    trust(place.work / "deep")
    assert place.file_of("a", "deep/er") == "deep/.claude/agents/a.md"
    assert place.file_of("b", "deep/er") == ".opencode/agent/b.md"
    assert place.file_of("a") == ".claude/agents/a.md"
    assert "c" not in place.find().agents


def test_files_below_a_folder_count_too(place: Place) -> None:
    """Two folders deep; hidden ones, other files and explanations do not."""
    for name in ("one/a.md", "one/two/b.md", "one/two/three/c.md", ".hidden/d.md", ".e.md", "f.txt", "README.md"):
        write(place.own / name)
    assert place.find().agents.keys() - BUNDLED == {"a", "b"}
    assert place.find().notices == []


def test_of_two_in_a_folder_the_first_by_its_path_counts(place: Place) -> None:
    """The name in the file is what counts."""
    write(place.own / "b.md", name="same")
    write(place.own / "a.md", name="same")
    assert place.file_of("same") == "OWN/a.md"
    assert [Path(each.file).name for each in place.find().shadowed] == ["b.md"]


def test_names_are_exact(place: Place) -> None:
    """`Explore` does not replace `explore`."""
    write(place.own / "Explore.md")
    assert {"Explore", "explore"} <= place.find().agents.keys()


def test_an_unknown_name_is_a_mistake_that_lists_those_there_are(place: Place) -> None:
    """Whatever is in it."""
    with pytest.raises(UserMistake, match="no agent nothing") as caught:
        place.find().get("nothing\x1b]0;x\x07")
    assert caught.value.hint == f"one of {', '.join(sorted(BUNDLED))}"


# Trust


def test_agents_of_a_folder_that_is_not_trusted_are_left_out(place: Place) -> None:
    """One notice has their number, and the command."""
    write(place.work / ".sightline/agents/a.md")
    write(place.work / ".claude/agents/b.md")
    found = place.find()
    assert found.agents.keys() == BUNDLED
    command = f"`sightline config trust {place.work}`"
    assert found.notices == [
        f"2 agents of this project are not used: its folder is not trusted. Read them, then run {command}"
    ]
    trust(place.work)
    found = place.find()
    assert {"a", "b"} <= found.agents.keys()
    assert found.notices == []
    write(place.work / ".claude/agents/b.md", description="another one")
    found = place.find()
    assert found.agents.keys() == BUNDLED
    assert found.notices == [
        f"2 agents of this project are not used: changed since you trusted its folder. Read them, then run {command}"
    ]


def test_several_folders_that_are_not_trusted_are_one_notice(place: Place) -> None:
    """With a command for each."""
    write(place.work / ".sightline/agents/a.md")
    write(place.work / "deep/.claude/agents/b.md")
    [notice] = place.find("deep").notices
    assert notice.startswith("2 agents of this project are not used")
    assert f"`sightline config trust {place.work}` and `sightline config trust {place.work}/deep`" in notice


def test_the_users_own_folder_is_no_project(place: Place) -> None:
    """In the home folder, which cannot be trusted, `.claude/agents` is the user's."""
    write(place.home / ".claude/agents/a.md")
    found = find_agents(place.home, place.environ)
    assert found.get("a").source == "user"
    assert (found.notices, found.shadowed) == ([], [])


def test_what_is_used_is_what_was_found_to_be_trusted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed right after the look, the agent is still the trusted one, and a new one is not there."""
    file = write(place.work / ".claude/agents/a.md", description="mine")
    trust(place.work)
    look = _digest.agents_digest_of

    def changed_after(folder: Path) -> _digest.Digest:
        found = look(folder)
        write(file, description="theirs")
        write(file.with_name("b.md"), description="theirs")
        return found

    monkeypatch.setattr(_digest, "agents_digest_of", changed_after)
    found = place.find()
    assert found.get("a").description == "mine"
    assert "b" not in found.agents


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_must_not_lead_out_of_the_project(place: Place, tmp_path: Path, what: str) -> None:
    """In the repository it may lead anywhere."""
    write(tmp_path / "out/a.md")
    write(place.work / "in/b.md")
    for name, target in ((".claude/agents", tmp_path / "out/a.md"), (".opencode/agent", place.work / "in/b.md")):
        folder = place.work / name
        if what == "file":
            folder.mkdir(parents=True)
            (folder / target.name).symlink_to(target)
        else:
            folder.parent.mkdir(parents=True)
            folder.symlink_to(target.parent)
    trust(place.work)
    found = place.find()
    assert found.agents.keys() - BUNDLED == {"b"}
    assert found.notices == [
        f"{place.work}/.claude/agents/a.md is not used: it is a link that leads outside the project"
    ]


def test_the_users_own_links_may_lead_anywhere(place: Place, tmp_path: Path) -> None:
    """Settings are often stored elsewhere and linked."""
    target = write(tmp_path / "dotfiles/a.md")
    place.own.mkdir(parents=True)
    (place.own / "a.md").symlink_to(target)
    assert "a" in place.find().agents


def test_agents_are_found_during_a_call(place: Place) -> None:
    """What a call may open does not limit what we look for ourselves."""
    write(place.own / "a.md")
    write(place.work / ".claude/agents/b.md")
    trust(place.work)
    with granted(Grants()):
        assert {"a", "b"} <= place.find().agents.keys()


# Hostile files


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


HOSTILE = {
    "fifo": (_fifo, "it is not a file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it is not a file"),
    "loop": (_loop, "it is not a file"),
    "nowhere": (lambda path: path.symlink_to("/nowhere"), "No such file or directory"),
    "folder behind a link": (lambda path: path.symlink_to("/usr"), "it is not a file"),
    "empty": (lambda path: path.write_bytes(b""), "it does not begin with front matter"),
    "huge": (lambda path: path.write_bytes(b"---\n" + b"a" * 300_000), "it is larger than 256 KB"),
    "sparse": (lambda path: (path.touch(), os.truncate(path, 2**40)), "it is larger than 256 KB"),
    "nul": (lambda path: path.write_bytes(b"---\ndescription: a\0\n---\nx"), "it has a NUL byte"),
    "bytes": (lambda path: path.write_bytes(b"---\ndescription: \xff\n---\nx"), "it is not UTF-8 text"),
    "bomb": (
        lambda path: path.write_text("---\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n---\nx"),
        "anchors and aliases are not allowed",
    ),
    "nested": (lambda path: path.write_text(f"---\na: {'[' * 5000}\n---\nx"), "nested deeper than 16 levels"),
    "no body": (lambda path: path.write_text("---\ndescription: a\n---\n \n"), "it has no instructions"),
    "controls in its name": (
        lambda path: path.write_text('---\nname: "a\\e[31mb\\u202e"\ndescription: a\n---\nx'),
        "its name is 'ab'",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_harmlessly(place: Place, kind: str) -> None:
    """One line names the reason; the others are used."""
    make, reason = HOSTILE[kind]
    write(place.own / "good.md")
    make(place.own / "bad.md")
    found = place.find()
    assert found.agents.keys() - BUNDLED == {"good"}
    [notice] = found.notices
    assert notice.startswith(f"{place.own}/bad.md is not used: ")
    assert reason in notice
    assert notice.isprintable()


@pytest.mark.parametrize("kind", sorted(HOSTILE.keys() - {"sparse"}))  # what is larger than 32 MB cannot be trusted
def test_the_same_in_a_project(place: Place, kind: str) -> None:
    """Trusted or not."""
    good = write(place.work / ".claude/agents/good.md")
    HOSTILE[kind][0](good.with_name("bad.md"))
    assert place.find().agents.keys() == BUNDLED
    trust(place.work)
    assert place.find().agents.keys() - BUNDLED == {"good"}
    assert len(place.find().notices) <= 1


def test_names_of_files_do_not_drive_a_terminal(place: Place) -> None:
    """Neither with controls nor with bytes that are no text."""
    place.own.mkdir(parents=True)
    for name in (b"\x1b]0;x\x07.md", b"\xff.md", b"a\nb.md", "\u202egnp.md".encode()):
        Path(os.fsdecode(os.fsencode(place.own) + b"/" + name)).write_text("---\ndescription: a\n---\nx")
    found = place.find()
    assert found.agents.keys() == BUNDLED
    assert len(found.notices) == 4
    assert all(notice.isprintable() for notice in found.notices)


def test_too_many_files_are_none(place: Place) -> None:
    """And one notice; so do many notices have an end."""
    for number in range(30):
        (write(place.own / f"{number}.md")).write_text("nothing")
    assert len(place.find().notices) == 21
    assert place.find().notices[-1] == "and 10 more notices about agents"
    for number in range(501):
        write(place.own / f"{number}.md")
    found = place.find()
    assert found.agents.keys() == BUNDLED
    assert found.notices[0].startswith(f"too many files: {place.own}")


def test_a_folder_that_cannot_be_listed_is_reported(place: Place) -> None:
    """And the others are used."""
    place.own.parent.mkdir(parents=True)
    place.own.symlink_to(place.own)
    write(place.home / ".claude/agents/b.md")
    found = place.find()
    assert found.agents.keys() - BUNDLED == {"b"}
    assert found.notices == [f"cannot read {place.own}: Too many levels of symbolic links; fix or remove the file"]


LINES = st.sampled_from(
    [
        "---\n", "name: a\n", "description: what\n", "tools: Read, Bash(x)\n", "tools:\n  a: true\n", "model: opus\n",
        "a: &x\n", "b: *x\n", "output: {a: [1, 2]}\n", "permission: {bash: ask}\n", "spawns: *\n", "\0", "\x1b[31m",
        "\u202e", "{[", "- x\n", "body\n", "'", '"', "!!python/name:os.system\n",
    ]
)  # fmt: skip


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=300), st.lists(LINES, max_size=12).map(lambda parts: "".join(parts).encode())))
def test_whatever_is_in_a_file_nothing_is_raised(data: bytes) -> None:
    """It is an agent or a notice; both are clean and bounded."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for folder in ("agents", ".claude/agents", ".config/opencode/agent"):
            (home / folder).mkdir(parents=True)
            (home / folder / "f.md").write_bytes(data)
        found = find_agents(home, {"HOME": name, "SIGHTLINE_HOME": name})
        for agent in [*found.agents.values(), *found.shadowed]:
            assert len(agent.name) <= 48
            assert agent.description.isprintable()
            assert len(agent.description) <= 1000
            assert clean_text(agent.prompt) == agent.prompt
        assert all(len(notice) <= 500 and "\n" not in notice and "\x1b" not in notice for notice in found.notices)


def test_bundled_agents_do_not_need_the_yaml_library() -> None:
    """A session that has no others starts without it."""
    program = (
        "import sys\nfrom sightline.delegation.definitions._discovery import bundled_agents\n"
        "bundled_agents()\nsys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize("agent", bundled_agents(), ids=lambda agent: agent.name)
def test_a_bundled_agent_is_complete(agent: AgentDefinition) -> None:
    """It has a purpose and a prompt, and starts only agents that exist."""
    assert agent.name in BUNDLED
    assert agent.file == ""
    assert 40 < len(agent.description) <= 200
    assert 400 < len(agent.prompt) < 2000
    assert {*agent.spawns} <= BUNDLED | {"*"}
    assert agent.model in ("", "small", "slow")


def test_the_reviewer_reports_findings_and_a_verdict() -> None:
    """With a tool, and with its result."""
    reviewer = next(agent for agent in bundled_agents() if agent.name == "reviewer")
    assert "report_finding" in (reviewer.tools or ())
    assert not {"edit", "write"} & {*(reviewer.tools or ())}
    assert reviewer.output is not None
    assert "verdict" in reviewer.output["required"]  # type: ignore[operator]


def test_the_page_lists_the_bundled_agents() -> None:
    """With model, level, tools and what each may start."""
    page = (Path(__file__).parents[2] / "docs/reference/agents.md").read_text()
    for agent in bundled_agents():
        tools = "all" if agent.tools is None else ", ".join(f"`{tool}`" for tool in agent.tools)
        starts = "any" if agent.spawns == ("*",) else ", ".join(f"`{name}`" for name in agent.spawns) or "none"
        model, level = (f"`{value}`" if value else "the same" for value in (agent.model, agent.approval))
        row = next(line for line in page.splitlines() if line.startswith(f"| `{agent.name}` |"))
        assert row.endswith(f"| {model} | {level} | {tools} | {starts} |")


@pytest.mark.parametrize("folder", [".claude", "conf"])
def test_a_folder_of_the_project_is_not_the_users_whatever_a_variable_names(place: Place, folder: str) -> None:
    """A file of the project may set it, and the project is not trusted."""
    place.environ |= {"CLAUDE_CONFIG_DIR": str(place.work / folder), "XDG_CONFIG_HOME": str(place.work / "x")}
    write(place.work / folder / "agents/evil.md")
    write(place.work / "x/opencode/agent/worse.md")
    write(place.home / ".claude/agents/mine.md")
    found = place.find()
    assert found.agents.keys() == BUNDLED | {"mine"}
    assert [notice for notice in found.notices if "CLAUDE_CONFIG_DIR names a folder in this project" in notice]


def test_where_the_home_is_the_project_variables_count(place: Place) -> None:
    """All that is in it is the user's."""
    (place.home / ".git").mkdir()
    place.environ |= {"CLAUDE_CONFIG_DIR": str(place.home / "c")}
    write(place.home / "c/agents/a.md")
    assert "a" in find_agents(place.home, place.environ).agents


def test_a_name_that_is_not_text_breaks_nothing(place: Place) -> None:
    """Of a file or of a folder above it: the definition is used, and can be stored."""
    for folder in (place.home / ".claude/agents", place.home / ".claude/agents" / os.fsdecode(b"\xfe")):
        folder.mkdir(parents=True)
        write(folder / os.fsdecode(b"\xff.md"), name=f"odd{len(str(folder))}", description="one")
        write(folder / os.fsdecode(b"\xfd.md"), description="other")
    found = place.find()
    odd = [agent for name, agent in found.agents.items() if name.startswith("odd")]
    assert len(odd) == 2
    for agent in odd:
        assert msgspec.json.decode(msgspec.json.encode(agent), type=AgentDefinition) == agent
    assert len([notice for notice in found.notices if "its name is" in notice]) == 2
    msgspec.json.encode(found.notices)
