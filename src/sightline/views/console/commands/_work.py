"""Commands about the agent's work."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.host import AskAside, Compact, Prompt
from sightline.views.console._desk import accepted
from sightline.views.console.input._images import image_file
from sightline.views.console.input._queue import waits_as
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.views.console._console import Console


async def stop(console: "Console", args: str) -> None:
    if not await console.stopping.stop():
        console.report("nothing is running")


async def queue(console: "Console", args: str) -> None:
    if not args:
        _report_queue(console)
    elif await accepted(console, Prompt(args, "follow_up")) is None:
        console.set_draft(f"/queue {args}")
    elif console.drawing.linear:
        console.report("queued until the agent is done", hint="/unqueue to edit")


async def btw(console: "Console", args: str) -> None:
    if not args:
        console.report("there is no question", "error", "write it after the command: /btw QUESTION")
    elif await accepted(console, AskAside(args)) is None:
        console.set_draft(f"/btw {args}")


async def ask_draft(console: "Console", args: str) -> None:
    """The same with the draft."""
    submission = console.prompt.take()
    if submission is not None and submission.attachments:  # they wait for the next prompt
        console.prompt.attach(submission.attachments)
    await btw(console, "" if submission is None else submission.written.strip())


def _report_queue(console: "Console") -> None:
    facts = Facts(console.state)
    waiting = facts.queue
    if not waiting:
        console.report("the queue is empty", hint="/queue TEXT sends it when the agent is done")
        return
    lines = [f"{waits_as(one, steers=facts.takes_steering)}: {one.text}" for one in waiting]
    console.report("\n".join(lines), hint="/unqueue to edit")


def follow_up(console: "Console", args: str) -> None:
    """Send the draft when the agent is done; at once where it is idle."""
    submission = console.prompt.take()
    if submission is not None:
        console.entering.enter(submission, "follow_up" if console.state.running else "")


async def unqueue(console: "Console", args: str) -> None:
    if not await console.stopping.unqueue():
        console.report("the queue is empty")


async def compact(console: "Console", args: str) -> None:
    reply = await accepted(console, Compact(args))
    if reply is not None and isinstance(reply.data, dict) and not reply.data.get("compacted"):
        console.report("nothing to summarise yet")


async def attach(console: "Console", args: str) -> None:
    if not args:
        console.report("which file?", "error", "/attach FILE")
        return
    if args == "none":
        while console.prompt.attachments:
            console.prompt.remove_attachment()
        return
    file = _file(console.cwd, args)
    image = await asyncio.to_thread(image_file, file)
    if image is None and not await asyncio.to_thread(file.exists):
        console.report(f"there is no file {args}", "error", "/attach FILE")
    elif image is None:
        console.report(f"{args} is not an image that can be read", "error", "name other files with @ in the prompt")
    else:
        console.prompt.attach([image])


def _file(folder: str, name: str) -> Path:
    return Path(folder, os.path.expanduser(name))


def paste(console: "Console", args: str) -> None:
    console.prompt.paste_image()


def history(console: "Console", args: str) -> None:
    console.prompt.search_history()


def editor(console: "Console", args: str) -> None:
    console.prompt.edit_externally()
