"""The command line: parsing arguments and nothing else. What a command needs is imported when it runs."""

import sys

from sightline._working_folder import import_nothing_from_it

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_PROVIDERS = ("native", "claude", "codex", "gemini", "opencode")


def main() -> int:
    """Entry point of the `sightline` command."""
    argv = sys.argv[1:]
    if argv in (["--version"], ["-V"]):
        # Before anything else is imported: scripts and editors run this all the time.
        from sightline import __version__

        sys.stdout.write(f"sightline {__version__}\n")
        return 0
    import_nothing_from_it()
    try:
        code = _painted(argv)
        if code is not None:
            return code
        from sightline.cli._main import run

        return run(argv)
    except KeyboardInterrupt:
        return 130


def _painted(argv: list[str]) -> int | None:
    """Open what is painted before the parser is imported. The exit code; None when it is for the parser."""
    plain = plain_flags(argv)
    if plain is None and argv != ["gallery"]:
        return None
    try:
        from sightline.views.console import open_console, open_gallery

        if plain is None:
            return open_gallery()
        return open_console(_options(plain, argv), provider=_provider(plain), prompt=plain.get("", ""))
    except Exception as error:
        from sightline.cli._main import ended_with

        return ended_with(error)


def plain_flags(argv: list[str]) -> dict[str, str] | None:
    """The few flags with which the console is started most, by name, and words in quotes, which have none; None where
    there is anything else."""
    flags: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if len(word.split()) > 1 and word[0] != "-":  # as `is_prompt`, which is more than may be imported here
            name, value = "", word
        elif name == "--continue" and not equals:
            value = "yes"
        elif name not in ("--resume", "--provider", "--model"):
            return None
        elif not equals:
            value = rest.pop(0) if rest else ""
        if not value or value.startswith("-") or name in flags:
            return None
        flags[name] = value
    both = "--continue" in flags and "--resume" in flags
    known = flags.get("--provider", "native") in _PROVIDERS
    return flags if known and not both else None


def _provider(flags: dict[str, str]) -> str:
    provider = flags.get("--provider", "native")
    return "" if provider == "native" else provider


def _options(flags: dict[str, str], argv: list[str]) -> "Mapping[str, Any] | Callable[[], Mapping[str, Any]]":
    if "--continue" in flags or "--resume" in flags:
        # Which conversation that is, only the store knows.
        def found() -> "Mapping[str, Any]":
            from sightline.cli._agent_commands import options_from

            return options_from(argv)

        return found
    return {"provider": _provider(flags), "model": flags.get("--model", "")}
