"""How Gemini CLI is started: with a pipe for its stdin it takes the prompt from there and does not ask."""

from sightline.providers._provider import Approval, Ask, CommandLine

_APPROVALS: dict[Approval, tuple[str, ...]] = {
    "auto": (),
    "plan": ("--approval-mode", "plan"),
    "edit": ("--approval-mode", "auto_edit"),
    "full": ("--approval-mode", "yolo"),
}


def _arguments(ask: Ask) -> list[str]:
    arguments = ["--output-format", "stream-json", *_APPROVALS[ask.approval]]
    if ask.model:
        arguments.append(f"--model={ask.model}")
    if ask.resume:
        arguments.append(f"--resume={ask.resume}")
    return arguments


COMMAND = CommandLine(
    binary="gemini",
    package="@google/gemini-cli",
    tested="0.61.0",
    arguments=_arguments,
    approvals=_APPROVALS,
    login_hint="run `gemini` once and log in, or set GEMINI_API_KEY",
)
