"""What a command leaves for the next one of its session: the folder it ended in, and the variables it exported.

Rules:

- The shell itself reports both, when it starts and when it exits, through a descriptor of its own. A shell that is
  killed or that becomes another program (`exec`) has reported no end, and nothing changes. Jobs change nothing. Only
  bash can: the result of a command for another shell notes that nothing lasts.
- A report comes from the command: it is not trusted. A folder has to exist and to lie in the workspace; of the
  variables those are left out that steer the shell, the loader or the network of the sandbox, that hold or lead to
  secrets, and what exceeds the bounds. No program of ours ever gets one of them.
- What a sandboxed command exported decides nothing outside the sandbox, nor about who gets a secret: a command that
  runs outside it, or that variables are passed to, gets and leaves only harmless ones (`CI`, `NO_COLOR`, …).
- The folder is stored with the conversation: it follows a resume, a fork and a move in the tree. The values of
  variables never are; after a resume a result names those that are lost. A new session starts in the workspace, with
  none.
"""

import fcntl
import os
import re
import shlex
from contextlib import suppress
from pathlib import Path

import msgspec

from sightline.exec import is_withheld, out_of_the_way
from sightline.handles import Swapped
from sightline.settings import is_harmless
from sightline.tools._context import ToolContext
from sightline.tools.files._paths import display, is_outside

MOST_VARIABLES = 64
LONGEST_VALUE = 8 * 1024  # bytes
MOST_BYTES = 32 * 1024  # of all values
_REPORT_BYTES = 256 * 1024  # of both reports; what does not fit is no report
_NAMED = 8  # variables that are named in a result
_STORED = "bash.state"

# A command without any of these words leaves nothing behind, and is run as it is.
_may_change = re.compile(
    r"\b(?:cd|pushd|popd|export|declare|typeset|source|eval|unset|set)\b|(?:^|[\s;&|(])\.\s"
).search
_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII).fullmatch
_NEVER = frozenset(
    {
        "HOME", "PWD", "OLDPWD", "SHLVL", "_", "IFS", "ENV", "SHELLOPTS", "CDPATH", "GLOBIGNORE", "EXECIGNORE",
        "TMPDIR", "PS4", "PROMPT_COMMAND", "USER", "LOGNAME", "SHELL", "POSIXLY_CORRECT", "GCONV_PATH", "LOCPATH",
        "NLSPATH",
    }
)  # fmt: skip
_NEVER_BEGINS = ("LD_", "DYLD_", "BASH", "GLIBC_", "SIGHTLINE")
_NEVER_ENDS = ("_PROXY",)

_REPORTING = """\
IFS=$'\\n'; builtin printf 'state\\0%s\\0' "$(builtin pwd -P)"
for __name in $(builtin compgen -e); do builtin printf '%s=%s\\0' "$__name" "${!__name}"; done; builtin printf 'end\\0'
"""


class ShellChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a command changed for those after it, for views."""

    cwd: str = ""  # as it is displayed; empty: the same as before
    exported: list[str] = []
    unset: list[str] = []
    left_out: list[str] = []  # exported, but not for the next commands: the first of them
    more_left_out: int = 0  # that are not among those
    unnamed: str = ""  # a folder it ended in whose name is not UTF-8, and so is not the next command's
    outside: str = ""  # a folder it ended in that is not in the workspace, and so is not the next command's
    lost: list[str] = []  # exported before a resume
    other_shell: str = ""  # it ran in, which cannot report: nothing lasts

    def __bool__(self) -> bool:
        return self != ShellChange()


class Stored(msgspec.Struct, frozen=True):
    """What is stored with the conversation."""

    cwd: str = ""
    exported: list[str] = []


class _Report(msgspec.Struct, frozen=True):
    folder: str
    variables: dict[str, str]


class ShellReport:
    """The descriptors through which one shell reports. Its maker closes it, or the job it was passed to."""

    def __init__(self) -> None:
        self.passed_on = False  # to a job, which closes it
        self._output, its_end = os.pipe()
        script, writing = os.pipe()
        self._its_end, self._script = out_of_the_way(its_end), out_of_the_way(script)
        with suppress(OSError, AttributeError):
            fcntl.fcntl(self._its_end, fcntl.F_SETPIPE_SZ, _REPORT_BYTES)
        # A report that does not fit is given up: a shell must not wait for its reader.
        os.set_blocking(self._output, False)
        os.set_blocking(self._its_end, False)
        os.write(writing, self._prologue().encode())
        os.close(writing)

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (self._its_end, self._script)

    def environment(self, before: dict[str, str]) -> dict[str, str]:
        """With what makes bash read our lines first, and then what it would have read."""
        own = {"BASH_ENV": f"/dev/fd/{self._script}"}
        return before | own | ({"BASH_ENV_BEFORE": before["BASH_ENV"]} if "BASH_ENV" in before else {})

    def _prologue(self) -> str:
        at_the_end = f"{{ set +exu; {_REPORTING.strip()}\n}} 2>/dev/null >&{self._its_end}"
        return (
            "unset BASH_ENV\n"
            'if [ -n "${BASH_ENV_BEFORE-}" ]; then export BASH_ENV="$BASH_ENV_BEFORE"; unset BASH_ENV_BEFORE\n'
            '. "$BASH_ENV"; fi\n'
            f"( {_REPORTING.strip()}\n) 2>/dev/null >&{self._its_end}\n"
            f"trap {shlex.quote(at_the_end)} EXIT\n"
        )

    def read(self) -> tuple[_Report, _Report] | None:
        """How it started and how it ended; None when it did not report both."""
        data = b""
        with suppress(BlockingIOError):
            while len(data) <= 2 * _REPORT_BYTES and (chunk := os.read(self._output, _REPORT_BYTES)):
                data += chunk
        parts = data.split(b"\0")
        starts = [at for at, part in enumerate(parts) if part == b"state"]
        if len(starts) < 2 or parts[-2:] != [b"end", b""]:
            return None
        return _parsed(parts[starts[0] + 1 : starts[1] - 1]), _parsed(parts[starts[-1] + 1 : -2])

    def close(self) -> None:
        for descriptor in (self._output, self._its_end, self._script):
            os.close(descriptor)


def _parsed(parts: list[bytes]) -> _Report:
    folder, variables = os.fsdecode(parts[0]) if parts else "", {}
    for part in parts[1:]:
        name, _, value = part.partition(b"=")
        variables[os.fsdecode(name)] = os.fsdecode(value)
    return _Report(folder, variables)


class _Moved(msgspec.Struct, frozen=True):
    """The folder from now on as seen from the workspace (None: the same as before), or one that cannot be it."""

    folder: str | None = None
    unnamed: str = ""
    outside: str = ""


class ShellState:
    """One per session: the values of variables, and the folders of calls that wait for a decision."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._judged: dict[str, Path] = {}

    def folder(self, context: ToolContext) -> Path:
        """Where the next command starts: where the last one ended, if that is still there."""
        stored = _stored(context).cwd
        folder = context.cwd / stored if stored else context.cwd
        return folder if stored and _is_usable(folder, context.cwd) else context.cwd

    def judge(self, call: str, folder: Path) -> None:
        """Fix the folder of a call: the one that is decided on is the one it runs in, whatever ends meanwhile."""
        self._judged[call] = folder

    def judged(self, call: str) -> Path | None:
        return self._judged.pop(call, None)

    def variables(self, context: ToolContext, *, trusted: bool) -> dict[str, str]:
        """For the next command. `trusted`: it runs outside the sandbox, or gets a secret."""
        named = _stored(context).exported
        found = {name: self._values[name] for name in named if name in self._values}
        return {name: value for name, value in found.items() if not trusted or is_harmless(name, value)}

    def update(
        self, report: ShellReport | None, context: ToolContext, *, trusted: bool, other_shell: str = ""
    ) -> ShellChange:
        """After a command that exited by itself. `trusted`: see `variables`. `other_shell`: one that cannot report what
        the command may have changed."""
        stored = _stored(context)
        lost = [name for name in stored.exported if name not in self._values]
        reports = report.read() if report is not None else None
        change = ShellChange(lost=lost, other_shell=other_shell)
        exported = [name for name in stored.exported if name in self._values]
        cwd = stored.cwd
        if reports is not None:
            before, after = reports
            new = {name: value for name, value in after.variables.items() if before.variables.get(name) != value}
            lasting = {name: value for name, value in new.items() if _may_last(name, value, trusted=trusted)}
            unset = [name for name in exported if name not in after.variables and name in before.variables]
            exported = [name for name in exported if name not in unset]
            lasting = self._bounded(lasting, exported)
            self._values |= lasting
            exported = list(dict.fromkeys([*exported, *lasting]))
            others = new.keys() - lasting.keys() - _OF_EVERY_SHELL
            left_out = sorted(name for name in others if _name(name))
            moved = self._moved(before.folder, after.folder, context)
            cwd = moved.folder if moved.folder is not None else cwd
            change = ShellChange(
                cwd="" if moved.folder is None else display(context.cwd / moved.folder, context.cwd),
                exported=sorted(lasting),
                unset=unset,
                left_out=left_out[:MOST_VARIABLES],
                more_left_out=len(left_out[MOST_VARIABLES:]),
                unnamed=moved.unnamed,
                outside=moved.outside,
                lost=lost,
            )
        now = Stored(cwd, exported)
        if now != stored:
            context.keep(_STORED, msgspec.to_builtins(now))
        return change

    def _moved(self, before: str, after: str, context: ToolContext) -> "_Moved":
        folder = Path(after)
        if before == after:
            return _Moved()
        if _is_usable(folder, context.cwd):
            relative = os.path.relpath(os.path.realpath(folder), os.path.realpath(context.cwd))
            return _Moved("" if relative == "." else relative)
        if not os.path.isdir(folder):
            return _Moved()
        name = display(folder, context.cwd)
        return _Moved(unnamed=name) if _is_inside(folder, context.cwd) else _Moved(outside=name)

    def _bounded(self, new: dict[str, str], exported: list[str]) -> dict[str, str]:
        values = {name: self._values[name] for name in exported} | new
        room = MOST_BYTES
        fitting: set[str] = set()
        for name, value in values.items():
            size = len(os.fsencode(value))
            if size <= min(LONGEST_VALUE, room) and len(fitting) < MOST_VARIABLES:
                fitting.add(name)
                room -= size
        return {name: value for name, value in new.items() if name in fitting}


_OF_EVERY_SHELL = frozenset({"_", "SHLVL", "PWD", "OLDPWD"})


def may_change_state(command: str) -> bool:
    return _may_change(command) is not None


def change_text(change: ShellChange) -> str:
    """For the model: a line, or nothing."""
    parts = []
    if change.other_shell:
        parts.append(f"cd and exports do not last: the shell is {change.other_shell}, not bash")
    if change.cwd:
        parts.append(f"the next commands run in {change.cwd}")
    if change.outside:
        parts.append(f"{change.outside} is outside the working folder: the next command does not run there (pass cwd)")
    if change.unnamed:
        parts.append(f"the name of {change.unnamed} is not UTF-8: the next command does not run there (rename it)")
    for names, others, what in (
        (change.exported, 0, "exported for the next commands"),
        (change.unset, 0, "unset"),
        (change.left_out, change.more_left_out, "not exported for the next commands"),
        (change.lost, 0, "no longer set since the session was resumed"),
    ):
        if names:
            others += max(len(names) - _NAMED, 0)
            more = f" and {others} more" if others else ""
            parts.append(f"{what}: {', '.join(names[:_NAMED])}{more}")
    return f"[{'; '.join(parts)}]" if parts else ""


def _may_last(name: str, value: str, *, trusted: bool) -> bool:
    if trusted:
        return is_harmless(name, value)
    upper = name.upper()
    if not _name(name) or upper in _NEVER or upper.startswith(_NEVER_BEGINS) or upper.endswith(_NEVER_ENDS):
        return False
    return not is_withheld(name, value, sandboxed=True)


def _is_usable(folder: Path, workspace: Path) -> bool:
    try:
        str(folder).encode()  # it is stored, and shown
    except UnicodeEncodeError:
        return False
    return _is_inside(folder, workspace)


def _is_inside(folder: Path, workspace: Path) -> bool:
    try:
        return folder.is_absolute() and folder.is_dir() and not is_outside(folder, workspace)
    except (OSError, ValueError, Swapped):
        return False


def _stored(context: ToolContext) -> Stored:
    try:
        return msgspec.convert(context.workplace.stored.get(_STORED, {}), Stored)
    except msgspec.ValidationError:
        return Stored()
