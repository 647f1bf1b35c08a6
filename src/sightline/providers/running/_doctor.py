"""Which providers could be used on this machine, and what is missing for the others."""

import asyncio
import re

import msgspec

from sightline.exceptions import UserMistake
from sightline.exec import Process, UntrustedProgram, find_program
from sightline.providers._binary import binary_words
from sightline.providers._provider import CommandLine, Provider
from sightline.providers._registry import get_provider, provider_names

_SECONDS_FOR_A_VERSION = 10.0

_version = re.compile(rb"\d+\.\d+[\w.+-]*")


class ProviderStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one provider here. One without a CLI has no binary: there is nothing to install."""

    name: str
    title: str
    binary: str = ""
    path: str | None = None  # where the binary was found
    version: str | None = None
    tested: str = ""
    problem: str = ""
    hint: str = ""
    missing: bool = False  # nothing is wrong: it is not installed, or not set up


async def survey() -> list[ProviderStatus]:
    """Every provider there is, in the registry's order; the versions of their CLIs are queried all at once."""
    return list(await asyncio.gather(*(_status(get_provider(name)) for name in provider_names())))


async def cli_version(command: CommandLine) -> str | None:
    """The version its CLI reports; None when it is missing, fails, or does not answer in time."""
    try:
        process = Process([*binary_words(command.binary, "", {}), "--version"], grace=1.0)
    except (OSError, UntrustedProgram):
        return None
    answer = b""
    try:
        async with asyncio.timeout(_SECONDS_FOR_A_VERSION):
            while chunk := await process.read():
                answer = (answer + chunk)[:4096]
    except TimeoutError:
        return None
    finally:
        if process.exit_code is None:
            await process.end()
        process.close()
    found = _version.search(answer)
    return found.group().decode() if found is not None and process.exit_code == 0 else None


def _status_without_cli(provider: Provider) -> ProviderStatus:
    problem = hint = ""
    if provider.check is not None:
        try:
            provider.check()
        except UserMistake as mistake:
            problem, hint = mistake.message, mistake.hint
    return ProviderStatus(name=provider.name, title=provider.title, problem=problem, hint=hint, missing=bool(problem))


async def _status(provider: Provider) -> ProviderStatus:
    command = provider.command
    if command is None:
        return _status_without_cli(provider)
    path, problem, hint, missing = None, "", "", False
    try:
        path = find_program(command.binary)
    except UntrustedProgram as refused:
        problem, hint = refused.message, refused.hint
    version = None if path is None else await cli_version(command)
    if path is None and not problem:
        missing, problem, hint = True, "not installed", f"npm install -g {command.package}"
    elif path is not None and version is None:
        problem, hint = f"`{command.binary} --version` does not work", f"npm install -g {command.package}"
    return ProviderStatus(
        name=provider.name,
        title=provider.title,
        binary=command.binary,
        path=path,
        version=version,
        tested=command.tested,
        problem=problem,
        hint=hint,
        missing=missing,
    )
