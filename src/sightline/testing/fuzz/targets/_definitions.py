"""Definitions of agents: a file is one or is refused in one line; nothing of it drives a terminal or has no bound."""

from pathlib import Path
from random import Random
from typing import get_args

import msgspec

from sightline.delegation.definitions._definition import PROVIDERS, AgentDefinition, DefinitionStyle
from sightline.delegation.definitions._fields import NotADefinition
from sightline.delegation.definitions._reading import DefinitionFile, read_definition
from sightline.settings import LARGEST_PAGE, Approval
from sightline.testing.fuzz._mutation import joined, mutated, text_of
from sightline.testing.fuzz._target import Plain, hold
from sightline.text import clean_line, clean_text

_LINES = [
    "name: a\n", "name: ", "description: What it is for\n", "description: when: then\n", "description: |\n  a\n  b\n",
    "tools: read, Grep, Task(a, b)\n", "tools: [read, {a: b}]\n", "tools:\n  '*': false\n  read: true\n",
    "disallowedTools: Write\n", "without: bash\n", "spawns: *\n", "spawns: [explore]\n", "model: opus\n",
    "model: a/b\n", "mode: subagent\n", "permission:\n  bash: {'*': ask}\n  task: {x: allow}\n", "approval: plan\n",
    'output: {"type": "object", "x": [1, 1e400]}\n', "output:\n  a: 0x1F\n  b: 1_000\n", "blocking: true\n",
    "a: &x [1]\n", "b: *x\n", "c: !!set {a}\n", "<<: {a: b}\n", "? a\n", "- a\n", "{a: b}\n", "[", "{", "'", '"',
    "---\n", "...\n", "%YAML 1.1\n", "# x\n", "\t", "  ", "\n", "a: 2024-99-99\n", "a: 1:2:3\n", "a: .inf\n", "a: ~\n",
]  # fmt: skip
_SAMPLE = "---\nname: a\ndescription: What it is for\ntools: read, bash\nmodel: small\n---\nDo it.\n"
_LARGEST_TEXT = 1000


class Definitions(Plain):
    name = "definitions"

    def make(self, random: Random) -> tuple[bytes, str]:
        style = random.choice(get_args(DefinitionStyle))
        match random.randrange(4):
            case 0:
                return mutated(random, _SAMPLE.encode(), [line.encode() for line in _LINES]), style
            case 1:
                return f"---\n{text_of(random, 200)}\n---\n{text_of(random)}".encode("utf-8", "surrogatepass"), style
            case _:
                repeated = random.choice((1,) * 20 + (1000,))
                head = joined(random, _LINES, 12) * repeated
                return f"---\ndescription: x\n{head}---\nDo it.".encode()[: LARGEST_PAGE + 1], style

    def check(self, given: tuple[bytes, DefinitionStyle]) -> None:
        data, style = given
        try:
            found, notices = read_definition(DefinitionFile(Path("/agents/a.md"), "project", style), data)
        except NotADefinition as problem:
            notices = [str(problem)]
        else:
            _hold_all(found)
        for notice in notices:
            hold(bool(notice) and clean_line(notice) == notice, f"not one clean line: {notice!r}")


def _hold_all(found: AgentDefinition) -> None:
    hold(found.name.isascii() and found.name.isprintable() and 0 < len(found.name) <= 48, "a name that is none")
    hold(clean_line(found.description) == found.description, "a description that drives a terminal")
    hold(0 < len(found.description) <= _LARGEST_TEXT, "a description without end")
    hold(clean_text(found.prompt) == found.prompt, "a prompt that drives a terminal")
    hold(found.approval in ("", *get_args(Approval)), "an unknown level")
    hold(found.provider in ("", *PROVIDERS), "an unknown provider")
    hold(found.model.isascii() and found.model.isprintable(), "a model that is no name")
    names = (*(found.tools or ()), *found.without, *found.spawns)
    hold(all(name.isascii() and name.isprintable() for name in names), "a name that drives a terminal")
    msgspec.json.encode(found)
    hold("bash" not in found.tools_of(["read"]), "a tool the parent does not have")
    hold(found.level_below("plan") == "plan", "a level the parent does not have")
