"""How Claude Code is started: the prompt on stdin, its stream on stdout."""

from sightline.providers._provider import Approval, Ask, CommandLine

_APPROVALS: dict[Approval, tuple[str, ...]] = {
    "auto": (),
    "plan": ("--permission-mode", "plan"),
    "edit": ("--permission-mode", "acceptEdits"),
    "full": ("--dangerously-skip-permissions",),
}


def _arguments(ask: Ask) -> list[str]:
    arguments = ["-p", "--output-format", "stream-json", "--verbose", *_APPROVALS[ask.approval]]
    if not ask.raw:
        arguments.append("--include-partial-messages")  # words as they are said, not block by block
    if ask.model:
        arguments.append(f"--model={ask.model}")
    if ask.resume:
        arguments.append(f"--resume={ask.resume}")
    return arguments


COMMAND = CommandLine(
    binary="claude",
    package="@anthropic-ai/claude-code",
    tested="2.1.197",
    arguments=_arguments,
    approvals=_APPROVALS,
    login_hint="run `claude` once and log in, or set ANTHROPIC_API_KEY",
)
