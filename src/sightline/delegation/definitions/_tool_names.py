"""Names of tools: ours, and what those of Claude Code and OpenCode mean here.

A name in a definition is one of ours, one of theirs in whatever case, or `exec` (everything that runs code). A name
with parentheses, such as `Bash(git diff:*)`, allows a part of a tool; a whole tool would allow more, so it is unknown
here. `Task(a, b)` and `Agent(a, b)` name the agents that may be started.
"""

import re
from collections.abc import Collection, Iterable

import msgspec

# Those of `builtin_tools`, and those that come with delegation, cells and the web; a session may lack some of them.
OURS = frozenset(
    {"read", "search", "find", "edit", "write", "bash", "job", "todo", "ask"}
    | {"task", "irc", "report_finding", "eval", "web_search"}
)

_THEIRS = {
    "exec": ("bash", "eval"),
    "agent": ("task",),
    "apply_patch": ("edit",),
    "askuserquestion": ("ask",),
    "bashoutput": ("job",),
    "codesearch": ("web_search",),
    "glob": ("find",),
    "grep": ("search",),
    "killbash": ("job",),
    "killshell": ("job",),
    "list": ("read",),
    "ls": ("read",),
    "multiedit": ("edit",),
    "notebookedit": ("edit",),
    "notebookread": ("read",),
    "patch": ("edit",),
    "question": ("ask",),
    "taskoutput": ("job",),
    "taskstop": ("job",),
    "todoread": ("todo",),
    "todowrite": ("todo",),
    "webfetch": ("read",),
    "websearch": ("web_search",),
}

# Of these, our tool does no more than theirs: only so can one be denied by their name.
_SAME = frozenset({"exec", "agent", "askuserquestion", "glob", "grep", "question", "todowrite", "websearch"})

_names = re.compile(r"[^\s,()][^,()]*(?:\([^()]*\))?").findall
_is_tool_name = re.compile(r"[A-Za-z0-9_.:-]{1,100}").fullmatch
_agents_of = re.compile(r"(?:Task|Agent)\((.*)\)").fullmatch


class ToolNames(msgspec.Struct, frozen=True):
    """`tools` are ours. `agents`: those named in `Task(…)`, None where there was no such name."""

    tools: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    agents: tuple[str, ...] | None = None


def our_tools(names: Iterable[str], more: Collection[str] = ()) -> ToolNames:
    """What a list of names means. `more`: names of tools that extensions and servers add to a session."""
    tools: dict[str, None] = {}
    unknown: list[str] = []
    agents: tuple[str, ...] | None = None
    for name in names:
        if named := _agents_of(name):
            agents = (*(agents or ()), *split_names(named[1]))
            found: tuple[str, ...] = ("task",)
        elif name in OURS or name in more:
            found = (name,)
        else:
            found = _THEIRS.get(name.lower(), (name.lower(),) if name.lower() in OURS else ())
        tools.update(dict.fromkeys(found))
        unknown += [] if found else [name]
    return ToolNames(tuple(tools), tuple(unknown), agents)


def denied_tools(names: Iterable[str]) -> ToolNames:
    """The same for tools an agent must not have. A name we do not know is denied as it is: an extension may add such a
    tool later. `unknown`: those that are a part of one of our tools, and cannot be denied alone."""
    names = list(names)
    parts = [name for name in names if name.lower() in _THEIRS.keys() - _SAME or not _is_tool_name(name)]
    found = [tool for name in names if name not in parts for tool in our_tools([name]).tools or (name,)]
    return ToolNames(tuple(dict.fromkeys(found)), tuple(parts))


def split_names(text: str) -> tuple[str, ...]:
    """Names between commas; commas in parentheses belong to the name."""
    return tuple(name.strip() for name in _names(text))
