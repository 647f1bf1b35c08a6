"""What people look for behind the slash and find on the command line: the page, and other agents."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_PROVIDERS = ("claude", "codex", "gemini", "opencode")


async def serve(console: "Console", args: str) -> None:
    console.tell("To see your sessions in a browser, run in another terminal: sightline serve")


async def provider(console: "Console", args: str) -> None:
    name = args.strip()
    if name in _PROVIDERS:
        await console.sessions.use_provider(name)
        console.tell(f"{name} works in this new session", hint=f"from the shell: sightline --provider {name}")
    elif name:
        console.tell(f"no provider {name}", "error", f"one of {', '.join(_PROVIDERS)}")
    else:
        hint = f"/provider NAME here, or sightline --provider NAME in the shell: {', '.join(_PROVIDERS)}"
        console.tell("To work with another agent's CLI in a new session", hint=hint)
