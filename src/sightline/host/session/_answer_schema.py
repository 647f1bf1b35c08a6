"""The JSON schema that the last message of a run without a screen has to fit.

Rules:

- The prompt has it. The answer is one JSON value, alone or in one fence.
- What is checked is what was shown: the words of the run's own agent as they were published, without secrets.
- An answer that does not fit is sent back once, with what is wrong.
"""

import re

import msgspec

from sightline.delegation._schema import problems
from sightline.events import Error, Event, Text, User
from sightline.exceptions import UserMistake

_LARGEST = 1024 * 1024  # bytes of a schema
_WORDS_AT_MOST = 4_000_000  # characters of an answer
_in_fence = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL).fullmatch
_REQUEST = (
    "Your last message must be one JSON value that fits the JSON schema below, and nothing else: no words before or "
    "after it."
)
_REPAIR = "Your last message does not fit the JSON schema. Answer again with the corrected JSON value alone."


class AnswerSchema:
    """A schema, and the words that have to fit it."""

    def __init__(self, schema: dict[str, object]) -> None:
        self._schema = schema
        self._parts: list[str] = []
        self._block = 0
        self._length = 0

    def prompt_with(self, prompt: str) -> str:
        """The prompt, with what the answer has to be."""
        return f"{prompt}\n\n{self.request}"

    @property
    def request(self) -> str:
        """The same alone."""
        return f"{_REQUEST}\n\n{msgspec.json.encode(self._schema).decode()}"

    def see(self, event: Event) -> None:
        """An event of the run: the last text of its own agent is its answer."""
        if event.agent:
            return
        if isinstance(event, User):
            self._parts, self._length = [], 0
        elif isinstance(event, Text):
            if event.block != self._block:
                self._block, self._parts, self._length = event.block, [], 0
            if self._length <= _WORDS_AT_MOST:
                self._parts.append(event.text)
                self._length += len(event.text)

    @property
    def answer(self) -> str:
        """The JSON value as it was written, without a fence."""
        words = "".join(self._parts).strip()
        fenced = _in_fence(words)
        return words if fenced is None else fenced[1].strip()

    def problems(self) -> list[str]:
        """What of the answer does not fit."""
        if not self.answer:
            return ["there is no answer"]
        if self._length > _WORDS_AT_MOST:
            return [f"it has more than {_WORDS_AT_MOST} characters"]
        try:
            value = msgspec.json.decode(self.answer)
        except (ValueError, RecursionError) as error:
            return [f"it is not one JSON value: {error}"]
        return problems(value, self._schema)

    @staticmethod
    def repair(found: list[str]) -> str:
        """The prompt that sends an answer back."""
        return "\n".join([_REPAIR, "", *(f"- {each}" for each in found)])

    @staticmethod
    def failure(found: list[str]) -> Error:
        return Error(f"the answer does not fit the schema: {'; '.join(found)}", "ask again, or change the schema")


def read_schema(path: str) -> AnswerSchema:
    """The schema in a file. Raises UserMistake."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserMistake(f"cannot read the schema {path}: {reason}", "name a file with a JSON schema") from None
    if len(data) > _LARGEST:
        raise UserMistake(f"the schema {path} is larger than 1 MiB", "name a smaller one")
    try:
        schema = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise UserMistake(f"the schema {path} is not JSON: {error}", "name a file with a JSON schema") from None
    if not isinstance(schema, dict):
        raise UserMistake(f"the schema {path} is not a JSON object", 'write one such as {"type": "object"}')
    return AnswerSchema(schema)
