"""What is installed, which version, and what to do about what is not."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap

import msgspec

from sightline.exceptions import SightlineError, UserMistake
from sightline.exec import SandboxStatus, sandbox_status
from sightline.models import default_model
from sightline.providers import ProviderStatus, survey
from sightline.settings import load
from sightline.text import clean_line, without_credentials
from sightline.tools.files._ripgrep import program as ripgrep
from sightline.views.plain._palette import NEVER, Palette
from sightline.working_copies import CopyRecord, UserWorktree, leftovers, remove_leftover, worktrees

_VALUE_AT, _VALUE, _HINT_AT = 21, 28, 4  # columns
_HINT = "hint: "
_OURS = "Sightline"
_COPIES = "working copies"


class _Row(msgspec.Struct, frozen=True):
    name: str
    value: str
    aside: str = ""
    hint: str = ""
    good: bool = True
    missing: bool = False  # nothing is wrong: it is not there


def show_doctor(cwd: Path, environ: Mapping[str, str], palette: Palette, columns: int | None = None) -> tuple[str, int]:
    """Our own agent, the providers, and what our agent works with; exit code 0 when at least one can be used.
    `columns`: of the terminal. Lines break between words."""
    native = _native_row(cwd, environ)
    statuses = asyncio.run(survey())
    rows = [native, *map(_provider_row, statuses), _sandbox_row(sandbox_status()), _ripgrep_row(ripgrep())]
    rows += _leftover_rows(leftovers()) + _worktree_rows(
        [each for each in worktrees() if each.record.is_whole and not each.is_in_use()]
    )
    usable = native.good or any(not status.problem for status in statuses)
    return "".join([_drawn(row, palette, columns) for row in rows]), 0 if usable else 1


def show_removed_leftovers(palette: Palette, columns: int | None = None) -> tuple[str, int]:
    """What killed sessions left is removed, after storing its changes; exit code 1 when one could not be."""
    rows = [_removed_row(record) for record in leftovers()]
    if not rows:
        rows = [_Row(_COPIES, "none left by killed sessions")]
    return "".join([_drawn(row, palette, columns) for row in rows]), 0 if all(row.good for row in rows) else 1


def _native_row(cwd: Path, environ: Mapping[str, str]) -> _Row:
    """Which model our own agent would use here, or why it cannot work."""
    try:
        name, found = default_model(load(cwd).settings, environ)
    except UserMistake as mistake:
        return _Row(_OURS, clean_line(mistake.message), hint=clean_line(mistake.hint), good=False)
    return _Row(_OURS, clean_line(name), f"found by {clean_line(found)}")


def _provider_row(status: ProviderStatus) -> _Row:
    tested = f"tested with {status.tested}" if status.tested else ""
    value = status.problem or status.version or "ready"
    return _Row(status.name, value, tested, status.hint, not status.problem, status.missing)


def _sandbox_row(status: SandboxStatus) -> _Row:
    """Which sandbox confines the commands of a model, why no better one does, and whether it has a network."""
    if status.kind == "bubblewrap":
        from sightline.exec.gateway import gateway_problem

        problem = gateway_problem()
        why = f"without network: {clean_line(problem)}" if problem else "network by host"
        return _Row("sandbox", status.kind, why)
    return _Row("sandbox", status.kind, status.why, status.hint, status.kind != "none")


def _ripgrep_row(path: str | None) -> _Row:
    """Our agent searches without it too, more slowly."""
    if path is None:
        return _Row("ripgrep", "not found", hint="install ripgrep: searching is slower without it", good=False)
    return _Row("ripgrep", clean_line(path))


def _leftover_rows(found: list[CopyRecord]) -> list[_Row]:
    """One row for all of them; none where there are none."""
    if not found:
        return []
    count = "1 left by a killed session" if len(found) == 1 else f"{len(found)} left by killed sessions"
    places = ", ".join(dict.fromkeys(f"{record.kind} of {clean_line(record.workspace)}" for record in found))
    return [_Row(_COPIES, f"{count}: {places}", hint="run `sightline doctor --remove-leftovers`", good=False)]


def _worktree_rows(found: list[UserWorktree]) -> list[_Row]:
    """Those of the user in which no session works: nothing is wrong with them, but they may have been forgotten."""
    if not found:
        return []
    names = ", ".join(f"{each.name} of {clean_line(str(each.workspace))}" for each in found)
    hint = "`sightline worktree` shows what changed in them; merge NAME, remove NAME"
    return [_Row("worktrees", f"{len(found)} without a session: {names}", hint=hint)]


def _removed_row(record: CopyRecord) -> _Row:
    name = f"{record.kind} of {clean_line(record.workspace)}"
    try:
        stored = remove_leftover(record)
    except (SightlineError, OSError) as problem:
        why = problem.message if isinstance(problem, SightlineError) else str(problem)
        hint = problem.hint if isinstance(problem, SightlineError) else ""
        return _Row(_COPIES, f"{name} is still there: {clean_line(why)}", hint=clean_line(hint), good=False)
    where = f"changes stored in {clean_line(str(stored.path))}" if stored.path else "it had no changes"
    for commits in stored.commits:
        words = clean_line(", ".join(commits.names))
        place = commits.bundle or commits.repository
        where += f"; commits ({words}) " + (
            f"in {clean_line(str(place))}" if place else f"lost: {clean_line(commits.problem)}"
        )
    return _Row(_COPIES, f"{name} removed: {where}")


def _drawn(row: _Row, palette: Palette, columns: int | None) -> str:
    sign = f"{palette.good}✓{palette.reset}" if row.good else f"{palette.bad}✕{palette.reset}"
    if row.missing:
        sign = f"{palette.dim}{NEVER}{palette.reset}"
    value, aside, hint = map(without_credentials, (row.value, row.aside, row.hint))
    lines = _wrapped(f"{value:<{_VALUE}} {aside}".rstrip(), _VALUE_AT, columns)
    if len(lines) == 1:
        first, below = f"{value:<{_VALUE}} {palette.dim}{aside}{palette.reset}".rstrip(), []
    else:
        first, *below = _wrapped(value, _VALUE_AT, columns)
        below += [f"{palette.dim}{line}{palette.reset}" for line in _wrapped(aside, _VALUE_AT, columns)]
    hints = _wrapped(hint, _HINT_AT + len(_HINT), columns) if hint else []
    rows = [f"{sign} {row.name:<18} {first}".rstrip()]
    rows += [" " * _VALUE_AT + line for line in below]
    rows += [f"{' ' * _HINT_AT}{_HINT if line is hints[0] else ' ' * len(_HINT)}{line}" for line in hints]
    return "".join([f"{line}\n" for line in rows])


def _wrapped(text: str, before: int, columns: int | None) -> list[str]:
    """Lines that fit beside so many columns; a word that does not is left whole."""
    if columns is None or len(text) <= columns - before:
        return [text]
    return wrap(text, max(columns - before, 20), break_long_words=False, break_on_hyphens=False)
