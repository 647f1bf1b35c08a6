"""The three styles of definitions: what each field of ours, Claude Code's and OpenCode's means."""

import re
from pathlib import Path

import pytest

from sightline.delegation import AgentDefinition
from sightline.delegation.definitions._discovery import bundled_agents
from sightline.delegation.definitions._fields import NotADefinition, NotForDelegation
from sightline.delegation.definitions._reading import DefinitionFile, read_definition
from sightline.delegation.definitions._tool_names import _THEIRS, OURS
from sightline.tools import builtin_tools

from .support import definition

EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", {"name": "named", "tools": None, "spawns": (), "model": "", "approval": "", "output": None}),
        ("name: Other-1_x", {"name": "Other-1_x"}),
        ("tools: read, search", {"tools": ("read", "search")}),
        ("tools: [read, Grep, Glob, webfetch]", {"tools": ("read", "search", "find")}),
        ("tools: []", {"tools": ()}),
        ("tools: *", {"tools": None}),
        ("tools: exec", {"tools": ("bash", "eval")}),
        ("tools: read, task", {"tools": ("read", "task"), "spawns": ("*",)}),
        ("tools: read, task\nspawns: explore, plan", {"spawns": ("explore", "plan")}),
        ("without: write, exec, deploy", {"tools": None, "without": ("write", "bash", "eval", "deploy")}),
        ("spawns: *", {"spawns": ("*",)}),
        ("spawns: true", {"spawns": ("*",)}),
        ("spawns: false", {"spawns": ()}),
        ("spawns: [explore]", {"spawns": ("explore",)}),
        ("model: small", {"model": "small"}),
        ("model: inherit", {"model": ""}),
        ("model: opus 4.5", {"model": "opus 4.5"}),
        ("thinking: high", {"thinking": "high"}),
        ("approval: plan", {"approval": "plan"}),
        ("blocking: true\nisolated: true", {"blocking": True, "isolated": True}),
        ("provider: codex", {"provider": "codex"}),
        ("provider: native", {"provider": ""}),
        ('output: {"type": "object"}', {"output": {"type": "object"}}),
        ("output:\n  type: object\n  required: [a]", {"output": {"type": "object", "required": ["a"]}}),
        ("description: |\n  Two\n  lines", {"description": "Two lines"}),
        ("description: It’s \\n\\nspread", {"description": "It’s spread"}),
        (f"description: {'x' * 3000}", {"description": "x" * 999 + "…"}),
    ],
)
def test_our_own_style(head: str, expected: dict[str, object]) -> None:
    """Every field, as a list or with commas."""
    found, notices = definition(head)
    assert {name: getattr(found, name) for name in expected} == expected
    assert notices == []


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("name: no spaces", "its name is 'no spaces'"),
        ("name: ../up", "its name is '../up'"),
        (f"name: {'x' * 49}", "its name is"),
        ("name: a\u202eb", "its name is 'ab'"),
        ("name: [a]", "name must be text"),
        ("description: ''", "it has no description"),
        ("tool: read", "unknown field tool, did you mean tools?"),
        ("tools:\n  read: true", "tools must be a list of names"),
        ("tools: [1]", "tools must be a list of names"),
        ("spawns: a b", "not the name of an agent: a b"),
        ('model: "a\\nb"', "not the name of a model: a b"),
        ("thinking: much", "thinking must be one of off, "),
        ("approval: everything", "approval must be one of auto, plan, edit, full, not everything"),
        ("blocking: 'maybe'", "blocking must be true or false, not maybe"),
        ("provider: nobody", "provider must be one of native, claude,"),
        ("provider: codex\nmodel: small", "small is a role of our own models: give a name that codex knows"),
        ("output: object", "output must be a mapping"),
        (f"output: {{a: {'x' * 40_000}}}", "output is larger than 32 KB"),
        ("tools: " + "a," * 300, "tools has more than 200 names"),
    ],
)
def test_mistakes_in_our_own_style(head: str, reason: str) -> None:
    """Each is one line, with nothing in it that drives a terminal."""
    with pytest.raises(NotADefinition) as caught:
        definition(head)
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()


def test_unknown_tools_are_left_out_with_a_notice() -> None:
    """The others stay. One that an extension adds is known when it is named."""
    found, notices = definition("tools: read, deploy, Bash(git diff:*), mcp__x__y")
    assert found.tools == ("read",)
    assert notices == ["unknown tools are left out: deploy, Bash(git diff:*), mcp__x__y"]
    file = DefinitionFile(Path("a.md"), "user", "sightline")
    found, notices = read_definition(file, b"---\ndescription: a\ntools: read, deploy\n---\nDo it.", ["deploy"])
    assert (found.tools, notices) == (("read", "deploy"), [])


def test_a_denial_of_a_part_is_reported() -> None:
    """A whole tool is not denied for it; nor is it silently allowed."""
    found, notices = definition("disallowedTools: Bash(rm:*), WebFetch, Write", "claude")
    assert found.without == ("write",)
    assert notices == ["not denied, because here it is a part of another tool: Bash(rm:*), WebFetch"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("tools: Read, Grep, Glob, Bash", {"tools": ("read", "search", "find", "bash")}),
        ("tools: [Edit, MultiEdit, Write, NotebookEdit]", {"tools": ("edit", "write")}),
        ("tools: WebFetch, WebSearch, TodoWrite", {"tools": ("read", "web_search", "todo")}),
        ("tools: Read, Task", {"tools": ("read", "task"), "spawns": ("*",)}),
        ("tools: Read, Agent(worker, researcher)", {"spawns": ("worker", "researcher")}),
        ("disallowedTools: Write, Edit", {"tools": None, "without": ("write", "edit")}),
        ("model: haiku", {"model": "small"}),
        ("model: opus", {"model": "slow"}),
        ("model: sonnet", {"model": ""}),
        ("model: inherit", {"model": ""}),
        ("model: claude-opus-4-5", {"model": "claude-opus-4-5"}),
        ("permissionMode: plan", {"approval": "plan"}),
        ("permissionMode: acceptEdits", {"approval": "edit"}),
        ("permissionMode: bypassPermissions", {"approval": ""}),
        ("effort: xhigh", {"thinking": "max"}),
        ("effort: strange", {"thinking": ""}),
        ("isolation: worktree", {"isolated": True}),
        ("color: red\nmaxTurns: 5\nhooks:\n  Stop: []", {"tools": None}),
        (
            'description: Use it when: <example>user: "a" assistant: "b"</example>',
            {"description": 'Use it when: <example>user: "a" assistant: "b"</example>'},
        ),
    ],
)
def test_files_of_claude_code(head: str, expected: dict[str, object]) -> None:
    """Their tools, models and modes; every other field is not looked at."""
    found, notices = definition(head, "claude")
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.style == "claude"
    assert notices == []


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("name: Front End", {"name": "named"}),
        ("mode: subagent", {"name": "named", "tools": None, "without": (), "spawns": ()}),
        ("mode: all\ntemperature: 0.1\nsteps: 5", {"tools": None}),
        ("model: anthropic/claude-sonnet-4-5", {"model": "anthropic/claude-sonnet-4-5"}),
        ("reasoningEffort: high", {"thinking": "high"}),
        ("tools:\n  write: false\n  bash: false", {"tools": None, "without": ("write", "bash")}),
        ("tools:\n  edit: false", {"without": ("edit", "write")}),
        ("tools:\n  '*': false\n  read: true\n  grep: true", {"tools": ("read", "search")}),
        ("tools: read, grep", {"tools": ("read", "search")}),
        ("permission: deny", {"tools": ()}),
        ("permission:\n  edit: deny\n  bash: deny", {"without": ("edit", "bash", "write")}),
        ("permission:\n  '*': deny\n  read: allow\n  glob: ask", {"tools": ("read", "find")}),
        ("tools:\n  bash: false\npermission:\n  bash: allow", {"without": ()}),
        ("permission:\n  bash: ask", {"approval": "edit", "without": ()}),
        ("permission:\n  bash: {'*': ask, 'git diff': allow}", {"approval": "edit", "without": ()}),
        ("permission:\n  ba*: deny", {"without": ("bash",)}),
        ("permission:\n  '?d?t': deny", {"without": ("edit", "write")}),
        ("tools:\n  '*sh': false", {"without": ("bash",)}),
        ("permission:\n  ba*: deny\n  bash: ask", {"approval": "edit", "without": ()}),
        ("permission:\n  bash: allow\n  b*: deny", {"without": ("bash",)}),
        ("tools:\n  bash: true\npermission:\n  b*: deny", {"without": ("bash",)}),
        ("permission:\n  '*': deny\n  f*: allow", {"tools": ("find",)}),
        ("permission:\n  t*: deny", {"spawns": (), "without": ("task", "todo")}),
        ("permission:\n  bash: {'*': deny, 'git diff': allow}", {"approval": "", "without": ("bash",)}),
        ("permission:\n  bash: {'git diff': allow}", {"approval": "", "without": ()}),
        ("permission:\n  task: allow", {"spawns": ("*",)}),
        ("permission:\n  task: {'*': deny, helper: allow}", {"spawns": ("helper",), "without": ()}),
        ("permission:\n  task: {'*': allow, helper: deny}", {"spawns": ()}),
        ("permission:\n  task: {'*': allow}", {"spawns": ("*",)}),
        ("tools:\n  task: true", {"spawns": ("*",)}),
    ],
)
def test_files_of_opencode(head: str, expected: dict[str, object]) -> None:
    """Its tools and permissions; the name is that of the file."""
    found, notices = definition(head, "opencode")
    assert {name: getattr(found, name) for name in expected} == expected
    assert notices == []


@pytest.mark.parametrize(
    ("head", "notice"),
    [
        ("tools:\n  webfetch: false", "not denied, because here it is a part of another tool: webfetch"),
        ("tools:\n  mymcp_*: false", "no tool here has such a name, so that none is denied by it: mymcp_*"),
        ("permission:\n  bash: {'rm *': deny}", "bash is left out, because a part of it is denied: rm *"),
        (
            "permission:\n  edit: {'*': allow, '*.lock': deny}",
            "edit is left out, because a part of it is denied: *.lock",
        ),
        ("permission:\n  edit: ask", "edits follow your approval level; OpenCode would ask about each"),
        ("tools:\n  '*': false\n  read: true\n  lsp: true", "unknown tools are left out: lsp"),
    ],
)
def test_what_cannot_be_the_same_as_in_opencode_is_reported(head: str, notice: str) -> None:
    """In one line each."""
    assert definition(head, "opencode")[1] == [notice]


@pytest.mark.parametrize("head", ["mode: primary", "disable: true"])
def test_agents_of_opencode_that_no_other_starts(head: str) -> None:
    """They are right, and not for us."""
    with pytest.raises(NotForDelegation):
        definition(head, "opencode")


def test_tools_are_chosen_from_those_of_the_parent() -> None:
    """In its order; `task` where agents may be started, and only there."""
    parent = [tool.name for tool in builtin_tools()] + ["task"]

    def chosen(head: str) -> tuple[str, ...]:
        return definition(head)[0].tools_of(parent)

    assert chosen("tools: find, read, web_search") == ("read", "find")
    assert chosen("tools: read\nspawns: explore") == ("read", "task")
    assert chosen("tools: read, task\nspawns: []") == ("read",)
    assert chosen("") == tuple(name for name in parent if name != "task")
    assert chosen("spawns: *\nwithout: bash, write") == tuple(name for name in parent if name not in ("bash", "write"))
    assert chosen("spawns: *\nwithout: task") == tuple(name for name in parent if name != "task")
    assert definition("tools: bash")[0].tools_of(["read"]) == ()


def test_the_level_is_a_cap() -> None:
    """Never wider than that of the parent."""

    def level(own: str, parent: str) -> str:
        found: AgentDefinition = definition(f"approval: {own}" if own else "")[0]
        return found.level_below(parent)  # type: ignore[arg-type]

    assert level("plan", "full") == "plan"
    assert level("full", "edit") == "edit"
    assert level("auto", "auto") == "auto"
    assert level("", "auto") == "auto"


def test_which_agents_it_may_start() -> None:
    """Those named, or any."""
    assert definition("spawns: explore")[0].may_start("explore")
    assert not definition("spawns: explore")[0].may_start("task")
    assert definition("spawns: *")[0].may_start("task")
    assert not definition("")[0].may_start("task")


def test_names_of_tools_are_ours() -> None:
    """All that come with the program are known, and every other name means some of them."""
    assert {tool.name for tool in builtin_tools()} <= OURS
    assert {tool for tools in _THEIRS.values() for tool in tools} <= OURS
    assert _THEIRS.keys().isdisjoint(OURS)


@pytest.mark.parametrize(
    ("name", "style", "expected"),
    [
        ("changelog", "sightline", {"tools": ("read", "search", "bash", "edit"), "model": "small", "approval": "auto"}),
        (
            "claude-code-reviewer",
            "claude",
            {"name": "migration-reviewer", "model": "slow", "approval": "plan", "without": ("write", "edit")},
        ),
        (
            "second-opinion",
            "sightline",
            {"name": "second-opinion", "provider": "codex", "approval": "plan", "isolated": False},
        ),
        ("experiment", "sightline", {"name": "experiment", "provider": "", "tools": None, "isolated": True}),
        ("opencode-docs", "opencode", {"name": "opencode-docs", "tools": None, "approval": "edit", "spawns": ()}),
    ],
)
def test_the_examples(name: str, style: str, expected: dict[str, object]) -> None:
    """Of each style, and each is read whole."""
    path = EXAMPLES / f"{name}.md"
    found, notices = read_definition(DefinitionFile(path, "user", style), path.read_bytes())  # type: ignore[arg-type]
    assert {field: getattr(found, field) for field in expected} == expected
    assert notices == []
    known = {"changelog", "claude-code-reviewer", "experiment", "opencode-docs", "second-opinion"}
    assert {each.stem for each in EXAMPLES.glob("*.md")} == known


def test_the_prompt_among_the_examples_names_agents_there_are() -> None:
    """Those that come with the program, and those beside it."""
    named = set(re.findall(r"`([a-z-]+)`", (EXAMPLES.parent / "share-out.md").read_text()))
    assert named == {"explore", "experiment", "second-opinion"}
    ours = {agent.name for agent in bundled_agents()}
    assert named <= ours | {each.stem for each in EXAMPLES.glob("*.md")}


@pytest.mark.parametrize(
    ("head", "without"),
    [
        ("permission:\n  bash: {'git push*': deny}", ("bash",)),
        ("permission:\n  bash: {'*': ask, 'rm *': deny}", ("bash",)),
        ("permission:\n  edit: {'*': allow, '*.lock': deny}", ("edit", "write")),
        ("permission:\n  read: {'*.env': deny}", ("read",)),
    ],
)
def test_a_tool_of_which_a_part_is_denied_in_opencode_is_denied(head: str, without: tuple[str, ...]) -> None:
    """An answer of the user, or an allow rule, would let the agent do what its file denies."""
    found, notices = definition(head, "opencode")
    assert (found.without, len(notices)) == (without, 1)


def test_a_pattern_of_opencode_means_the_tools_of_extensions_too() -> None:
    found, _ = read_definition(
        DefinitionFile(Path("/agents/named.md"), "user", "opencode"),
        b"---\ndescription: x\npermission:\n  mine_*: deny\n---\nDo it.",
        ["mine_deploy", "other"],
    )
    assert found.without == ("mine_deploy",)


@pytest.mark.parametrize("pattern", ["*a" * 90, "?*" * 90, "*" * 900, "[b]ash*"])
def test_no_pattern_costs_more_than_its_size(pattern: str) -> None:
    """Tried one star after the other, such a one would take years; brackets mean nothing."""
    file = DefinitionFile(Path("/agents/named.md"), "user", "opencode")
    data = f'---\ndescription: x\npermission:\n  "{pattern}": deny\n---\nDo it.'.encode()
    found, notices = read_definition(file, data, ["a" * 80 + "b", "bash"])
    assert (found.without, len(notices)) == ((), 1)


@pytest.mark.parametrize("style", ["sightline", "claude", "opencode"])
def test_no_agent_brings_a_scripted_model(style: str) -> None:
    """It would answer from a file of the project, in a session of a user who asked a model."""
    with pytest.raises(NotADefinition, match="a scripted model is chosen for a session"):
        definition("model: scripted:answers.json", style)
