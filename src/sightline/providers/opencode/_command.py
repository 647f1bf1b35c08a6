"""How OpenCode is started: the prompt on stdin, and agents of ours for the approval levels it has no flag for.

Its own plan agent still runs commands, and a rule in the user's settings can outrank any given for one run, except
those of an agent. So the levels below `full` are agents of ours that may do what is listed and no more.
"""

import os
import re

import msgspec

from sightline.providers._provider import Approval, CommandLine, ProviderPrompt

_READING: dict[str, object] = {
    "*": "deny",
    "read": {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"},  # as it is by default
    **dict.fromkeys(("glob", "grep", "list", "lsp", "skill", "todowrite", "webfetch", "websearch"), "allow"),
}
_AGENTS: dict[str, object] = {
    "sightline-plan": {"mode": "primary", "permission": _READING},
    "sightline-edit": {"mode": "primary", "permission": {**_READING, "edit": "allow"}},
}
_APPROVALS: dict[Approval, tuple[str, ...]] = {
    "auto": (),
    "plan": ("--agent", "sightline-plan"),
    "edit": ("--agent", "sightline-edit"),
    "full": ("--auto",),
}
_SETTINGS = "OPENCODE_CONFIG_CONTENT"


def _arguments(ask: ProviderPrompt) -> list[str]:
    arguments = ["run", "--format", "json", *_APPROVALS[ask.approval]]
    if not ask.raw:
        arguments += ["--thinking", "--print-logs", "--log-level=ERROR"]
    if ask.model:
        arguments.append(f"--model={ask.model}")
    if ask.resume:
        arguments.append(f"--session={ask.resume}")
    return arguments


def _environment(ask: ProviderPrompt) -> dict[str, str]:
    """The agents, beside the settings for one run that the user has given in the same way."""
    if ask.approval not in ("plan", "edit"):
        return {}
    given = ask.env.get(_SETTINGS) or os.environ.get(_SETTINGS) or "{}"
    try:
        settings = msgspec.json.decode(given, type=dict[str, object])
    except msgspec.MsgspecError:  # OpenCode ignores it as well
        settings = {}
    agents = settings.get("agent")
    settings["agent"] = {**(agents if isinstance(agents, dict) else {}), **_AGENTS}
    return {_SETTINGS: msgspec.json.encode(settings).decode()}


_is_log = re.compile(r"timestamp=\S+ level=\w+ ").match
_request_failed = re.compile(r' message="stream error" .*error\.error="(?:\w+: )?((?:[^"\\]|\\.)*)"').search


def _log_line(line: str) -> str | None:
    """A failed request is reported nowhere else: it is tried again, for more than a minute, silently."""
    if _is_log(line) is None:
        return None
    failed = _request_failed(line)
    return f"a request failed, OpenCode may try again: {failed[1]}" if failed is not None else ""


COMMAND = CommandLine(
    binary="opencode",
    package="opencode-ai",
    tested="1.18.33",
    arguments=_arguments,
    approvals=_APPROVALS,
    forbids_commands=True,
    environment=_environment,
    log_line=_log_line,
    login_hint="run `opencode auth login`",
)
