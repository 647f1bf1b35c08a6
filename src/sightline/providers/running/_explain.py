"""Why a provider's CLI failed, in words the user can act on.

The CLIs report it in many ways and change their wording freely, so their output is matched loosely: a wrong guess costs
a hint that does not help, a missed one leaves the CLI's own words, which are always shown.
"""

import os
import re
import signal

import msgspec

from sightline.events import Error
from sightline.providers._provider import CommandLine, Provider, ProviderPrompt
from sightline.text import clean_line, clean_text, cut_graphemes, escape_controls

_LINES_SHOWN = 4
_LINE_AT_MOST = 400

# The first that matches wins: what is wrong with the installation comes before what a half-installed CLI prints next.
_causes: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), hint)
    for pattern, hint in (
        (
            r"env: .{0,3}node\b|\bnode: (command )?not found|exec: node",
            "install Node.js, which {binary} needs, and make sure `node` is on the PATH",
        ),
        (
            r"EBADENGINE|unsupported (engine|node)|requires node|node\.js (version )?v?\d+ or (higher|newer|later)"
            r"|ERR_REQUIRE_ESM|SyntaxError: ",
            "update Node.js: {binary} {tested} needs a newer one",
        ),
        (
            r"npm err|MODULE_NOT_FOUND|cannot find module|native binary not|missing optional dependency",
            "install it again: npm install -g {package}",
        ),
        (
            r"trusted directory|skip-git-repo-check|folder trust|not trusted",
            "work inside a Git repository, or start {binary} once in this folder and trust it",
        ),
        (r"root/sudo", "run it as a normal user"),
        (
            r"no conversation found|valid session|session not found|no rollout found|error resuming session",
            "check the session id; a session belongs to the folder it was started in",
        ),
        (
            r"rate.?limit|too many requests|\b429\b|\bquota\b",
            "wait a little and try again, or check the limits of the account",
        ),
        (
            r"not logged in|log ?in\b|auth method|api[ _-]?key|unauthori[sz]ed|\b401\b|authenticat|credential"
            r"|missing environment variable|token (has )?expired",
            "{login}",
        ),
        (
            r"model.{0,80}(not found|not exist|not supported|not available|unknown|invalid)|unknown model|modelnotfound"
            r"|(issue with the selected|invalid|unsupported) model",
            "check the model name, or leave it out to use the one {binary} chooses itself",
        ),
        (
            r"unknown (option|argument|flag|command)|unexpected argument|unrecogni[sz]ed (option|argument)",
            "this {binary} does not know a flag of version {tested}: see `sightline doctor`",
        ),
        (
            # Error codes as they are written: in any case, FileNotFoundError would be one.
            r"(?-i:\b(?:ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN)\b)|\bgetaddrinfo\b|\bnetwork\b"
            r"|(unable to|cannot) connect|not resolve",
            "check the network connection and the proxy settings",
        ),
    )
)

_error_line = re.compile("error|fatal|fail|cannot|could not|no such|unknown|invalid|not |please|denied", re.IGNORECASE)
_prefix = re.compile(r"\A\s*error:\s+", re.IGNORECASE)
# Stack frames, the runtime's signature below them, and the pointer to the column above them; of a Rust program the
# numbered frames, which need not have a place, and how to have more of them.
_noise = re.compile(
    r"\s*(at .*[:(]\d+|Node\.js v[\d.]+|\^+|file://\S+:\d+|\d+: <unknown>|note: .*RUST_BACKTRACE.*)\s*\)?$"
)
_stack_begins = re.compile(r"\s*stack backtrace:\s*$", re.IGNORECASE)
_frame = re.compile(r"\s*(\d+:\s|at\s|$)")


def unsupported(provider: Provider, command: CommandLine, ask: ProviderPrompt) -> Error:
    """The request needs what this CLI has no flag for; running without it would not be what was requested."""
    if ask.approval != "auto" and ask.approval not in command.approvals:
        text = f"{provider.title} has no approval level '{ask.approval}'"
        return Error(text, f"choose one of: {', '.join(command.approvals)}")
    unknown = ", ".join(name for name in ask.options if name not in command.options)
    takes = f"takes no option {unknown}" if command.options else f"takes no options: {unknown}"
    hint = f"known: {', '.join(sorted(command.options))}" if command.options else "leave it out"
    return Error(clean_line(f"{provider.name} {takes}"), hint)


def not_started(provider: Provider, command: CommandLine, ask: ProviderPrompt, problem: OSError | ValueError) -> Error:
    """The system would not start the binary."""
    text, hint = _start_problem(provider, command, ask, problem)
    return Error(clean_text(text), hint)


def _start_problem(
    provider: Provider, command: CommandLine, ask: ProviderPrompt, problem: OSError | ValueError
) -> tuple[str, str]:
    import shutil

    binary, again = command.binary, f"install it again: npm install -g {command.package}"
    if isinstance(problem, ValueError):
        return f"{binary} cannot take these arguments: {problem}", "remove characters that a command line cannot hold"
    if ask.cwd and not os.path.isdir(ask.cwd):
        return f"there is no folder {ask.cwd}", "check the working folder of the run"
    found = shutil.which(binary, path={**os.environ, **ask.env}.get("PATH"))
    if isinstance(problem, PermissionError):
        return f"`{binary}` cannot be run: permission denied", again
    if not isinstance(problem, FileNotFoundError):
        return f"`{found or binary}` cannot be started: {problem.strerror or problem}", again
    if found is not None:
        return f"`{found}` cannot be started: its interpreter is missing", again
    return f"{provider.title} is not installed: no `{binary}` on the PATH", install_hint(command)


def install_hint(command: CommandLine) -> str:
    """How to have it, and then how to use it."""
    login = f", then {command.login_hint}" if command.login_hint else ""
    return f"install it with `npm install -g {command.package}`{login}"


def failed(provider: Provider, command: CommandLine, exit_code: int, stderr: str, unread: str = "") -> Error:
    """It ended badly and its stream does not show why; stderr may, or lines of its output that could not be read."""
    output = _without_stack(stderr if stderr.strip() else _plain_lines(unread))
    reason = last_words(output)
    how = f"{provider.title} {_ending(exit_code)}"
    hint = hint_for(command, output) or ("" if reason else f"run `{command.binary}` by itself to see why")
    return Error(f"{how}: {reason}" if reason else f"{how} without saying why", hint)


def channel_ended(what: str, command: CommandLine, exit_code: int | None, stderr: str) -> tuple[str, str]:
    """The message that the program of a channel ended, with its last output, and a hint."""
    text, reason = f"{what} ended with exit code {exit_code}", last_words(stderr)
    hint = hint_for(command, reason) or f"update it: npm install -g {command.package}"
    return f"{text}: {reason}" if reason else text, hint


def with_hint(error: Error, command: CommandLine) -> Error:
    """The provider's own error, with what to do about it where the source does not know."""
    return msgspec.structs.replace(error, text=_bare(error.text), hint=error.hint or hint_for(command, error.text))


def hint_for(command: CommandLine, text: str) -> str:
    """What to do about the output of a CLI; empty where it is not known."""
    for pattern, hint in _causes:
        if pattern.search(text):
            login = command.login_hint or f"log in with {command.binary} first"
            return hint.format(binary=command.binary, package=command.package, tested=command.tested, login=login)
    return ""


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def last_words(output: str) -> str:
    """The last lines that look like an error, each from its beginning; of a crash the message, not the stack."""
    lines = [line.strip() for line in _without_stack(output).split("\n") if line.strip()]
    errors = [line for line in lines if _error_line.search(line)]
    return _bare("\n".join(cut_graphemes(line, _LINE_AT_MOST) for line in (errors or lines)[-_LINES_SHOWN:]))


def _without_stack(output: str) -> str:
    shown, in_stack = [], False
    for line in clean_text(output).split("\n"):
        in_stack = bool(_stack_begins.match(line) or (in_stack and _frame.match(line)))
        if not in_stack and not _noise.match(line):
            shown.append(line)
    return "\n".join(shown)


def _bare(text: str) -> str:
    """Without the word that is put before every error anyway, unless there is nothing else."""
    return _prefix.sub("", text, count=1) or text


def _plain_lines(unread: str) -> str:
    """Readable text among lines of output: not the objects of a stream, and without what an escape did there."""
    escape = chr(27)
    lines = unread.replace(escape_controls(escape), escape).split("\n")
    return clean_text("\n".join(line for line in lines if not line.lstrip().startswith("{")))
