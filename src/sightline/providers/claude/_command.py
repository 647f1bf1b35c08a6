"""How Claude Code is started: for one prompt on stdin, or for a session whose prompts come one by one; its stream on
stdout."""

from sightline.providers._provider import Approval, CommandLine, ProviderPrompt

_APPROVALS: dict[Approval, tuple[str, ...]] = {
    "auto": (),
    "plan": ("--permission-mode", "plan"),
    "edit": ("--permission-mode", "acceptEdits"),
    "full": ("--dangerously-skip-permissions",),
}
_PARTIAL = "--include-partial-messages"  # text as it is written, not block by block


def _arguments(ask: ProviderPrompt) -> list[str]:
    return ["-p", *_streamed(ask), *([] if ask.raw else [_PARTIAL]), *_conversation(ask)]


def channel_arguments(ask: ProviderPrompt) -> list[str]:
    """Prompts as lines on stdin, and its requests on stdout."""
    asking = ["--input-format", "stream-json", "--permission-prompt-tool", "stdio"]
    return ["-p", *_streamed(ask), _PARTIAL, *asking, *_conversation(ask)]


def _streamed(ask: ProviderPrompt) -> list[str]:
    return ["--output-format", "stream-json", "--verbose", *_APPROVALS[ask.approval]]


def _conversation(ask: ProviderPrompt) -> list[str]:
    model = [f"--model={ask.model}"] if ask.model else []
    return [*model, f"--resume={ask.resume}"] if ask.resume else model


COMMAND = CommandLine(
    binary="claude",
    package="@anthropic-ai/claude-code",
    tested="2.1.197",
    arguments=_arguments,
    approvals=_APPROVALS,
    login_hint="run `claude` once and log in, or set ANTHROPIC_API_KEY",
    has_end_line=True,
)
