"""What is installed, which version, and what to do about what is not."""

import asyncio

from sightline.exec import SandboxStatus, sandbox_status
from sightline.providers import ProviderStatus, survey
from sightline.views.plain._palette import Palette


def show_doctor(palette: Palette) -> tuple[str, int]:
    """A table of the providers, then the sandbox, and exit code 0 when at least one provider can be used."""
    statuses = asyncio.run(survey())
    rows = [_provider_row(status, palette) for status in statuses]
    rows.append(_sandbox_row(sandbox_status(), palette))
    usable = any(not status.problem for status in statuses)
    return "".join(rows), 0 if usable else 1


def _provider_row(status: ProviderStatus, palette: Palette) -> str:
    said = status.problem or status.version or "ready"
    tested = f"tested with {status.tested}" if status.tested else ""
    return _row(status.name, said, tested, hint=status.hint, good=not status.problem, palette=palette)


def _sandbox_row(status: SandboxStatus, palette: Palette) -> str:
    """What keeps the commands a model chose in their place, and why nothing better does."""
    return _row("sandbox", status.kind, status.why, hint=status.hint, good=status.kind != "none", palette=palette)


def _row(name: str, said: str, aside: str, *, hint: str, good: bool, palette: Palette) -> str:
    sign = f"{palette.good}✓{palette.reset}" if good else f"{palette.bad}✕{palette.reset}"
    line = f"{sign} {name:<18} {said:<28} {palette.dim}{aside}{palette.reset}".rstrip()
    return line + (f"\n    hint: {hint}\n" if hint else "\n")
