"""The providers there are. A new one needs its module and one line here."""

from importlib import import_module

from sightline.providers._provider import Provider

# name → module that defines PROVIDER; imported only when that provider is used.
_MODULES = {
    "claude": "sightline.providers.claude",
    "codex": "sightline.providers.codex",
    "gemini": "sightline.providers.gemini",
    "opencode": "sightline.providers.opencode",
    "openai_compatible": "sightline.providers.openai_compatible",
}

_LINES_LOOKED_AT = 64


def provider_names() -> list[str]:
    return list(_MODULES)


def get_provider(name: str) -> Provider:
    """The provider of that name; KeyError when there is none."""
    provider: Provider = import_module(_MODULES[name]).PROVIDER
    return provider


def recognise(head: bytes) -> Provider | None:
    """The provider whose stream begins like this, or None. Lines of no provider, such as a warning of npm, are passed
    over; a text that is one JSON value over many lines is tried as a whole."""
    providers = [get_provider(name) for name in _MODULES]
    head = head.removeprefix(b"\xef\xbb\xbf")
    for line in [*head.split(b"\n")[:_LINES_LOOKED_AT], head]:
        for provider in providers:
            if provider.recognises is not None and line.strip() and provider.recognises(line):
                return provider
    return None
