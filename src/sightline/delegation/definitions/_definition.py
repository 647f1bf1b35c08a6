"""What an agent is: who it is for, what it reads first, and what it may do.

A definition is data. Nothing in it widens what the parent may do: tools are chosen from those of the parent, and the
approval level is a cap. `tools_of` and `level_below` are the only places where that is decided.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from sightline.settings import Approval

DefinitionSource = Literal["bundled", "user", "project", "extension"]
DefinitionStyle = Literal["sightline", "claude", "opencode"]
PROVIDERS = ("claude", "codex", "gemini", "opencode", "openai_compatible")
ANY_AGENT = "*"


class AgentDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """One agent that can be started. Its file is what the user reads and writes; see docs/reference/agents.md."""

    name: str
    description: str  # one line: when to use it
    prompt: str  # its instructions
    tools: tuple[str, ...] | None = None  # None: all of the parent's
    without: tuple[str, ...] = ()  # tools it never has
    skills: tuple[str, ...] | None = None  # those it is offered, of all there are; None: all
    spawns: tuple[str, ...] = ()  # agents it may start; ("*",): any
    model: str = ""  # empty: the parent's; "small" and "slow" are roles of `settings.models`
    thinking: str = ""  # empty: the parent's
    approval: Literal["", "plan", "edit", "auto", "full"] = ""  # a cap; empty: none
    output: dict[str, object] | None = None  # JSON schema of its result
    blocking: bool = False  # the call waits for it, even where agents start in the background
    provider: str = ""  # empty: our own agent; else one of PROVIDERS
    isolated: bool = False  # works on its own copy of the files
    source: DefinitionSource
    style: DefinitionStyle = "sightline"
    file: str = ""  # empty: it comes with the program

    def tools_of(self, parent: Iterable[str]) -> tuple[str, ...]:
        """Its tools, of those the parent has, in their order. `task` is one of them where it may start agents, and
        only there."""
        named = None if self.tools is None else {*self.tools, *(["task"] if self.spawns else [])}
        denied = {*self.without, *([] if self.spawns else ["task"])}
        return tuple(name for name in parent if name not in denied and (named is None or name in named))

    def level_below(self, parent: Approval) -> Approval:
        """Its approval level: the lower one of its own and its parent's."""
        from sightline.agent import LEVELS

        return min(self.approval or parent, parent, key=LEVELS.index)

    def may_start(self, name: str) -> bool:
        return name in self.spawns or ANY_AGENT in self.spawns
