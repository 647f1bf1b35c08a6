"""A workflow in plain text: its findings, or its steps and their output as they change."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from sightline.flows import check, load, parse_inputs
from sightline.journal import Store
from sightline.text import clean_line
from sightline.views.plain._output import write_text
from sightline.views.plain._palette import Palette
from sightline.views.plain._renderer import PlainRenderer
from sightline.views.plain.commands.run import Channels, until_done

if TYPE_CHECKING:  # a check needs no session
    from sightline.host import FlowStart, HostedFlow


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


def read_flow(path: str, inputs: Sequence[str], cwd: str) -> "FlowStart":
    """`FlowInvalid` or `UserMistake` for whatever is wrong with it."""
    from sightline.host import flow_start

    flow = load(path)
    return flow_start(flow, parse_inputs(flow, inputs), cwd)


def show_flow(store: Store, start: "FlowStart", renderer: PlainRenderer, *, events: bool) -> int:
    """Run it, shown as it goes; the exit code is the flow's."""
    from sightline.host import HostedFlow

    run = HostedFlow(store, start)
    return asyncio.run(until_done(_show(run, Channels(renderer, events=events)), run.cancel, lambda: run.exit_code))


def detach_flow(store: Store, start: "FlowStart", palette: Palette) -> int:
    """Start it in the background and print the id of its session."""
    from sightline.host import launch_flow

    session = launch_flow(store, start)
    write_text(1, f"{session}\n")
    if os.isatty(2):
        write_text(2, f"{palette.dim}watch it: sightline attach {session}{palette.reset}\n")
    return 0


async def _show(run: "HostedFlow", channels: Channels) -> None:
    async with aclosing(run.events()) as batches:
        async for batch in batches:
            await channels.write(batch)
    await channels.end()
