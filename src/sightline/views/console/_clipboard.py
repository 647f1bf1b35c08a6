"""Copying where the terminal cannot: with the programs desktops have for it."""

import asyncio
import os

from sightline.exec import UntrustedProgram, find_program, trusted_environment

_PROGRAMS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
)


async def copy_with_program(text: str) -> str:
    """Copy. Returns what went wrong; empty: nothing."""
    at_hand = [argv for needs, argv in _PROGRAMS if not needs or needs in os.environ]
    argv = next((found for argv in at_hand if (found := _found(argv))), None)
    if argv is None:
        return "this terminal gives programs no clipboard, and wl-copy, xclip, xsel and pbcopy are not installed"
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=trusted_environment(os.environ),
            stdin=asyncio.subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
        )
    except OSError as error:
        return f"{argv[0]} cannot be run: {error.strerror or error}"
    try:
        async with asyncio.timeout(5):
            await process.communicate(text.encode(errors="replace"))
    except TimeoutError:
        process.kill()
        return f"{argv[0]} does not answer"
    return "" if process.returncode == 0 else f"{argv[0]} failed with exit code {process.returncode}"


def _found(argv: tuple[str, ...]) -> tuple[str, ...]:
    try:
        path = find_program(argv[0])
    except UntrustedProgram:
        return ()
    return (path, *argv[1:]) if path else ()
