"""Commands about sessions: another one, another title, another agent, leaving."""

import asyncio
from typing import TYPE_CHECKING

from sightline.exceptions import UserMistake
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.views.console._console import Console


_PROVIDERS = ("claude", "codex", "gemini", "opencode")


async def new(console: "Console", args: str) -> None:
    before = console.session if console.state.entries else ""
    await console.switch("")
    hint = f"the previous one: /resume, or sightline --resume {before}" if before else ""
    console.report("a new conversation", hint=hint)


async def rename(console: "Console", args: str) -> None:
    if not args.strip():
        console.report("which title?", "error", "/rename TITLE")
        return
    try:
        await asyncio.to_thread(console.store.rename, console.session, args)
    except UserMistake as mistake:
        console.report(mistake.message, "error", mistake.hint)
        return
    console.report(f"this session is called: {clean_line(args)}")


def detach(console: "Console", args: str) -> None:
    console.sessions.detach()


def quit(console: "Console", args: str) -> None:
    console.sessions.leave()


async def worktree(console: "Console", args: str) -> None:
    await console.sessions.show_worktree()


def serve(console: "Console", args: str) -> None:
    console.report("To see your sessions in a browser, run in another terminal: sightline serve")


async def provider(console: "Console", args: str) -> None:
    name = args.strip()
    if name in _PROVIDERS:
        await console.sessions.use_provider(name)
        console.report(f"{name} works in this new session", hint=f"from the shell: sightline --provider {name}")
    elif name:
        console.report(f"no provider {name}", "error", f"one of {', '.join(_PROVIDERS)}")
    else:
        hint = f"/provider NAME here, or sightline --provider NAME in the shell: {', '.join(_PROVIDERS)}"
        console.report("To work with another agent's CLI in a new session", hint=hint)
