"""Secret values this process knows, and text without them.

A value is known by the environment variable it is in. Short ones are not looked for: they would be found in words.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sightline.conversation import AssistantMessage, CallPart, TextPart
from sightline.exec import filtered_environment

_SHORTEST = 8


class Secrets:
    """`masked` replaces every known secret value by the name of its variable."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        kept = filtered_environment(environ)
        values = {value: name for name, value in environ.items() if name not in kept and len(value) >= _SHORTEST}
        self._names = values
        longest_first = sorted(values, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, longest_first))) if values else None

    def masked(self, text: str) -> str:
        if self._any is None or not text:
            return text
        return self._any.sub(lambda match: f"[secret {self._names[match[0]]}]", text)

    def masked_value(self, value: Any) -> Any:
        """JSON data with every text in it masked."""
        if self._any is None:
            return value
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, dict):
            return {self.masked(key): self.masked_value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.masked_value(item) for item in value]
        return value

    def masked_message(self, message: AssistantMessage) -> AssistantMessage:
        """As it is kept. Thinking stays as it is: it is signed, and goes back to where it came from only."""
        if self._any is None:
            return message
        return msgspec.structs.replace(message, parts=[self._masked_part(part) for part in message.parts])

    def _masked_part(self, part: Any) -> Any:
        if isinstance(part, TextPart):
            return TextPart(self.masked(part.text))
        if isinstance(part, CallPart):
            return msgspec.structs.replace(part, args=self.masked_value(part.args), broken=self.masked(part.broken))
        return part
