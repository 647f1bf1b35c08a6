"""How Gemini CLI is started: once per prompt, which it takes from its stdin and does not ask, or to be spoken with."""

from sightline.providers._provider import Approval, CommandLine, ProviderPrompt

_APPROVALS: dict[Approval, tuple[str, ...]] = {
    "auto": (),
    "plan": ("--approval-mode", "plan"),
    "edit": ("--approval-mode", "auto_edit"),
    "full": ("--approval-mode", "yolo"),
}


def _arguments(ask: ProviderPrompt) -> list[str]:
    arguments = ["--output-format", "stream-json", *_common(ask)]
    if ask.resume:
        arguments.append(f"--resume={ask.resume}")
    return arguments


def channel_arguments(ask: ProviderPrompt) -> list[str]:
    return ["--acp", *_common(ask)]


def _common(ask: ProviderPrompt) -> list[str]:
    return [*_APPROVALS[ask.approval], *([f"--model={ask.model}"] if ask.model else [])]


COMMAND = CommandLine(
    binary="gemini",
    package="@google/gemini-cli",
    tested="0.61.0",
    arguments=_arguments,
    approvals=_APPROVALS,
    login_hint="run `gemini` once and log in, or set GEMINI_API_KEY",
    has_end_line=True,
)
