"""What is installed, which version, and what to do about what is not."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from sightline.exceptions import UserMistake
from sightline.exec import SandboxStatus, sandbox_status
from sightline.models import default_model
from sightline.providers import ProviderStatus, survey
from sightline.settings import load
from sightline.text import clean_line, without_credentials
from sightline.tools._ripgrep import program as ripgrep
from sightline.views.plain._palette import Palette


def show_doctor(cwd: Path, environ: Mapping[str, str], palette: Palette) -> tuple[str, int]:
    """Our own agent, the providers, and what our agent works with; exit code 0 when at least one can be used."""
    native, ready = _native_row(cwd, environ, palette)
    statuses = asyncio.run(survey())
    rows = [native, *(_provider_row(status, palette) for status in statuses)]
    rows += [_sandbox_row(sandbox_status(), palette), _ripgrep_row(ripgrep(), palette)]
    usable = ready or any(not status.problem for status in statuses)
    return "".join(rows), 0 if usable else 1


def _native_row(cwd: Path, environ: Mapping[str, str], palette: Palette) -> tuple[str, bool]:
    """Which model our own agent would use here, or what keeps it from working."""
    try:
        name, found = default_model(load(cwd).settings, environ)
    except UserMistake as mistake:
        said, hint = clean_line(mistake.message), clean_line(mistake.hint)
        return _row("native", said, "", hint=hint, good=False, palette=palette), False
    row = _row("native", clean_line(name), f"found by {clean_line(found)}", hint="", good=True, palette=palette)
    return row, True


def _provider_row(status: ProviderStatus, palette: Palette) -> str:
    said = status.problem or status.version or "ready"
    tested = f"tested with {status.tested}" if status.tested else ""
    return _row(status.name, said, tested, hint=status.hint, good=not status.problem, palette=palette)


def _sandbox_row(status: SandboxStatus, palette: Palette) -> str:
    """What keeps the commands a model chose in their place, and why nothing better does; whether it has a network."""
    if status.kind == "bubblewrap":
        from sightline.exec.gateway import gateway_problem

        problem = gateway_problem()
        why = f"without network: {clean_line(problem)}" if problem else "network by host"
        return _row("sandbox", status.kind, why, hint="", good=True, palette=palette)
    return _row("sandbox", status.kind, status.why, hint=status.hint, good=status.kind != "none", palette=palette)


def _ripgrep_row(path: str | None, palette: Palette) -> str:
    """Our agent searches without it too, more slowly."""
    if path is None:
        hint = "install ripgrep: searching is slower without it"
        return _row("ripgrep", "not found", "", hint=hint, good=False, palette=palette)
    return _row("ripgrep", clean_line(path), "", hint="", good=True, palette=palette)


def _row(name: str, said: str, aside: str, *, hint: str, good: bool, palette: Palette) -> str:
    sign = f"{palette.good}✓{palette.reset}" if good else f"{palette.bad}✕{palette.reset}"
    line = f"{sign} {name:<18} {said:<28} {palette.dim}{aside}{palette.reset}".rstrip()
    return without_credentials(line + (f"\n    hint: {hint}\n" if hint else "\n"))
