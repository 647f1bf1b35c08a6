"""A workflow in plain text: its findings, or its steps and their output as they change."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from sightline.flows import FlowRun, check, load, parse_inputs
from sightline.providers import ProviderPrompt, Run
from sightline.text import clean_line
from sightline.views.plain._renderer import PlainRenderer
from sightline.views.plain.commands.run import Channels, until_done


def show_check(path: str) -> tuple[str, int]:
    """Every finding on a line of its own, and exit code 2 when there is one."""
    findings, name = check(path), clean_line(path)
    if not findings:
        return f"{name}: no mistakes found\n", 0
    lines = []
    for finding in findings:
        lines.append(f"{name}:{finding.line}: {finding.message}\n")
        if finding.hint:
            lines.append(f"  hint: {finding.hint}\n")
    count = f"{len(findings)} mistake" + ("s" if len(findings) > 1 else "")
    return "".join(lines) + f"{count} found\n", 2


def show_flow(path: str, inputs: Sequence[str], renderer: PlainRenderer, *, events: bool) -> int:
    """Run it, shown as it goes; the exit code is the flow's."""
    flow = load(path)
    run = FlowRun(flow, parse_inputs(flow, inputs), own_agent=_own_agent)
    return asyncio.run(until_done(_show(run, Channels(renderer, events=events)), run.cancel, lambda: run.exit_code))


def _own_agent(prompt: ProviderPrompt) -> Run:
    from sightline.host import native_run

    return native_run(prompt)


async def _show(run: FlowRun, channels: Channels) -> None:
    async with aclosing(run.events()) as batches:
        async for batch in batches:
            await channels.write(batch)
    await channels.end()
