"""How Codex is started: `-` makes it read the prompt from stdin, and every flag comes before `resume`."""

from sightline.providers._provider import Approval, CommandLine, ProviderPrompt

_APPROVALS: dict[Approval, tuple[str, ...]] = {
    "auto": (),
    "plan": ("--sandbox", "read-only"),
    "edit": ("--sandbox", "workspace-write"),
    "full": ("--dangerously-bypass-approvals-and-sandbox",),
}


def _arguments(ask: ProviderPrompt) -> list[str]:
    arguments = ["exec", "--json", *_APPROVALS[ask.approval]]
    if ask.model:
        arguments.append(f"--model={ask.model}")
    if ask.resume:
        arguments += ["resume", "--", ask.resume]
    return [*arguments, "-"]


COMMAND = CommandLine(
    binary="codex",
    package="@openai/codex",
    tested="0.166.0",
    arguments=_arguments,
    approvals=_APPROVALS,
    login_hint="run `codex login`, or set OPENAI_API_KEY",
    has_end_line=True,
)
