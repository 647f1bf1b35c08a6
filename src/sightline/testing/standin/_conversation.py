"""What a request of any dialect boils down to, and which turn of the script it asks for.

The server keeps no place in the script. A request carries the whole conversation so far, so the place is worked out
from it: turns with calls are passed over while the history holds as many calls, turns without while it holds answers
that called nothing. A request that is repeated, retried or sent beside others therefore gets the right turn.
"""

import re
from typing import Any

import msgspec

from sightline.testing.standin._script import Part, Script

# What a client sends beside the conversation: requests for a title or a summary, without tools.
_side_request = re.compile(r"\btitle\b|summari[sz]e|isNewTopic|next_speaker|classif", re.IGNORECASE)

_answer_without_call = re.compile(r"(?<![ct])t+(?=u)")


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool as the client described it. `freeform` tools take a text, not an object."""

    properties: dict[str, Any] = {}
    required: list[str] = []
    freeform: bool = False
    namespace: str = ""

    @classmethod
    def from_schema(cls, schema: Any, *, freeform: bool = False, namespace: str = "") -> "OfferedTool":
        schema = schema if isinstance(schema, dict) else {}
        return cls(schema.get("properties") or {}, schema.get("required") or [], freeform, namespace)


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `history` has a letter per thing said: u by the client's side, t words or thoughts, c a call."""

    user_text: str
    system: str
    history: str
    tools: dict[str, OfferedTool]
    model: str
    stream: bool
    agent_ids: list[str] = []  # subagents the history shows as started, for clients that wait for them by id
    answer_schema: Any = None
    include_usage: bool = False

    @property
    def calls_made(self) -> int:
        return self.history.count("c")

    @property
    def answers_given(self) -> int:
        """Answers that called nothing and were followed by more from the client."""
        return len(_answer_without_call.findall(self.history))

    @property
    def is_side_request(self) -> bool:
        return not self.tools and (self.answer_schema is not None or bool(_side_request.search(self.system)))

    def part(self, script: Script) -> Part:
        """The part of the script this conversation plays: that of the subagent whose task it was given, or the main."""
        given = [part for part in script.parts[1:] if part.prompt in self.user_text]
        return max(given, key=lambda part: len(part.prompt), default=script.parts[0])


def text_of(content: Any) -> str:
    """The words in a message's content, whatever the dialect; results of calls are not words."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict) and content.get("type") != "tool_result":
        return text_of(content.get("text") or content.get("encrypted_content") or content.get("parts"))
    return ""


def smallest_value(schema: Any) -> Any:
    """Some value a JSON schema allows, for clients that ask for a structured answer."""
    if not isinstance(schema, dict):
        return "ok"
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "object")).lower()
    if kind == "object":
        return {name: smallest_value(value) for name, value in (schema.get("properties") or {}).items()}
    return {"array": [], "boolean": False, "number": 0, "integer": 0}.get(kind, "ok")
