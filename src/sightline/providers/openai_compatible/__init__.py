"""Any chat-completions endpoint: how its answers are read (`_source`) and requested (`_run`)."""

from sightline.providers._provider import Provider, ProviderPrompt, Run
from sightline.providers.openai_compatible._source import ChatSource, recognises

__all__ = ["PROVIDER", "ChatSource", "recognises"]


def _start(ask: ProviderPrompt) -> Run:
    from sightline.providers.openai_compatible._run import ChatRun  # brings asyncio and the HTTP client

    return ChatRun(ask)


def _check() -> None:
    from sightline.providers.openai_compatible._settings import load_settings

    load_settings(ProviderPrompt(prompt=""))


PROVIDER = Provider(
    name="openai_compatible",
    title="OpenAI-compatible endpoint",
    source=ChatSource,
    recognises=recognises,
    cadence="burst",
    start=_start,
    check=_check,
    counts_turns=True,
)
