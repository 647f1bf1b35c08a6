"""A provider that does not exist: all that a sixth one would need, in one module.

Its CLI prints one JSON object per line, each with one of the keys handled below.
"""

import json

from sightline.events import Error, Event, RunEnded, RunStarted, Text, ToolResult, ToolUse
from sightline.providers import CommandLine, Provider, ProviderPrompt, ProviderSource

APPROVALS = {"auto": (), "plan": ("--look-only",), "full": ("--fly-free",)}


class ParrotSource(ProviderSource):
    provider = "parrot"

    def parse_events(self, line: bytes) -> list[Event]:
        try:
            said = json.loads(line)
        except ValueError:
            return self.unreadable(line, "not JSON")
        match said:
            case {"perch": session}:
                return [RunStarted(session=session, source="parrot")]
            case {"say": text, "chick": agent}:
                return [Text(text, self.new_block(), agent=agent, source="parrot")]
            case {"say": text}:
                return [Text(text, self.new_block(), source="parrot")]
            case {"crack": nut}:
                return [ToolUse(self.open_call(nut), "Crack", "crack", nut, native_id=nut, source="parrot")]
            case {"cracked": nut}:
                return [ToolResult(self.close_call(nut), native_id=nut, source="parrot")]
            case {"squawk": text}:
                return [Error(text, source="parrot")]
            case {"sleep": reason}:
                return [RunEnded(stop_reason=reason, source="parrot")]
            case _:
                return self.unreadable(line, "no such word")


def _arguments(ask: ProviderPrompt) -> list[str]:
    arguments = ["talk", *APPROVALS[ask.approval]]
    if ask.model:
        arguments.append(f"--model={ask.model}")
    if ask.resume:
        arguments.append(f"--resume={ask.resume}")
    return arguments


PROVIDER = Provider(
    name="parrot",
    title="Parrot",
    source=ParrotSource,
    recognises=lambda head: head.startswith(b'{"perch"'),
    command=CommandLine(
        binary="parrot",
        package="@birds/parrot",
        tested="1.2.3",
        arguments=_arguments,
        approvals=APPROVALS,
        login_hint="run `parrot login`",
    ),
)
