"""What is installed, which version, and what to do about what is not."""

import asyncio

from sightline.providers import ProviderStatus, survey
from sightline.views.plain._palette import Palette


def show_doctor(palette: Palette) -> tuple[str, int]:
    """A table of the providers, and exit code 0 when at least one can be used."""
    statuses = asyncio.run(survey())
    rows = [_row(status, palette) for status in statuses]
    usable = any(not status.problem for status in statuses)
    return "".join(rows), 0 if usable else 1


def _row(status: ProviderStatus, palette: Palette) -> str:
    sign = f"{palette.bad}✕{palette.reset}" if status.problem else f"{palette.good}✓{palette.reset}"
    said = status.problem or status.version or "ready"
    tested = f"tested with {status.tested}" if status.tested else ""
    hint = f"    hint: {status.hint}\n" if status.hint else ""
    return f"{sign} {status.name:<18} {said:<28} {palette.dim}{tested}{palette.reset}".rstrip() + f"\n{hint}"
