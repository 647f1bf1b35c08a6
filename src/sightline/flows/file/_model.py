"""A flow as it was written: inputs, and steps that need one another."""

from typing import Literal

import msgspec

from sightline.flows.file._condition import Condition
from sightline.flows.file._template import Reference, Template
from sightline.flows.running._shell import ShellCommand
from sightline.providers import Approval

NATIVE = "native"  # our own agent, in the place of a provider

InputType = Literal["string", "int", "number", "boolean"]
OutputFormat = Literal["text", "json"]


class FlowInput(msgspec.Struct, frozen=True, kw_only=True):
    """A value the user gives. Without a default it must be given, unless it has `required: false`."""

    name: str
    type: InputType = "string"
    default: object = None
    required: bool = True
    description: str = ""
    line: int = 0


class StepRetry(msgspec.Struct, frozen=True, kw_only=True):
    """How often a step is tried in all, and how long to wait before each further time."""

    attempts: int = 1
    delay: float = 0.0  # seconds


class FlowStep(msgspec.Struct, frozen=True, kw_only=True):
    """What every step has. It starts when all it needs is over; steps that do not need one another run together."""

    id: str
    needs: tuple[str, ...] = ()
    when: Condition | None = None
    timeout: float | None = None  # seconds, for each attempt
    retry: StepRetry = StepRetry()
    foreach: list[object] | Reference | None = None  # one agent, or command, for each; every text in it is a Template
    max_parallel: int | None = None  # items at once
    cwd: Template = Template(())  # relative to the folder the flow was started in
    line: int = 0


class AgentStep(FlowStep, frozen=True, kw_only=True):
    """A prompt for a provider, or for an agent that is defined in a file. One of the two is named."""

    provider: str = ""  # `native`: our own agent
    agent: str = ""
    prompt: Template
    model: Template = Template(())
    approval: Approval | None = None  # None: as the definition or the settings have it
    output_format: OutputFormat = "text"
    options: dict[str, object] = {}  # the provider's own; every text in it is a Template


class CommandStep(FlowStep, frozen=True, kw_only=True):
    """A command: text for a shell, or words for no shell."""

    run: ShellCommand | tuple[Template, ...]


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """A checked flow: every name in it exists and its steps have an order."""

    name: str
    inputs: dict[str, FlowInput]
    steps: dict[str, AgentStep | CommandStep]  # in the order of the file
    path: str = ""
