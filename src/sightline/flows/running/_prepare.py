"""From a step as written to an attempt at it: templates filled in, nothing started yet."""

from collections.abc import Callable

from sightline.exceptions import OutsideFailure
from sightline.flows.file._model import AgentStep, CommandStep
from sightline.flows.file._template import Template, Values, render
from sightline.flows.running._agent import AgentAttempt
from sightline.flows.running._command import CommandAttempt
from sightline.flows.running._nested import Nested
from sightline.flows.running._shell import Invocation, ShellCommand, argv_invocation, shell_invocation
from sightline.providers import Provider, ProviderPrompt, Run, get_provider

NATIVE = "native"

Attempt = AgentAttempt | CommandAttempt
OwnAgent = Callable[[ProviderPrompt], Run]  # one prompt for our own agent, whose room is above this one


def prepare(
    step: AgentStep | CommandStep,
    values: Values,
    nested: Nested,
    cwd: str,
    own_agent: OwnAgent | None = None,
) -> Attempt:
    """`OutsideFailure` when a path leads nowhere or a value does not fit where it is to go."""
    if isinstance(step, CommandStep):
        return CommandAttempt(_invocation(step, values), nested, timeout=step.timeout, cwd=cwd)
    prompt = render(step.prompt, values)
    if not prompt.strip():
        raise OutsideFailure("the prompt is empty", "check the values it is made of")
    provider = _own(own_agent) if step.provider == NATIVE else get_provider(step.provider)
    ask = ProviderPrompt(
        prompt=prompt,
        model=render(step.model, values),
        cwd=cwd,
        timeout=step.timeout,
        approval=step.approval,
        options={name: _rendered(value, values) for name, value in step.options.items()},
        raw=step.output_format == "json" or (provider.source is None and step.provider != NATIVE),
    )
    return AgentAttempt(provider, ask, nested)


def _own(own_agent: OwnAgent | None) -> Provider:
    if own_agent is None:
        raise OutsideFailure("sightline's own agent cannot run here", "run the flow with `sightline flow run`")
    return Provider(name=NATIVE, title="Sightline", source=None, start=own_agent)


def _invocation(step: CommandStep, values: Values) -> Invocation:
    if isinstance(step.run, ShellCommand):
        return shell_invocation(step.run, values)
    return argv_invocation(step.run, values)


def _rendered(value: object, values: Values) -> object:
    """A plain value with its templates filled in."""
    match value:
        case Template():
            return render(value, values)
        case dict():
            return {key: _rendered(item, values) for key, item in value.items()}
        case list():
            return [_rendered(item, values) for item in value]
        case _:
            return value
