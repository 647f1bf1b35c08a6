"""The hooks of extensions.

They are called in the order they were added. One that raises, or has not returned after half a minute, is reported and
counts as having returned nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

import msgspec

from sightline.text import clean_line
from sightline.tools import Outcome

Moment = Literal["session_start", "prompt", "before_call", "after_call", "before_tree", "tree", "session_end"]

PATIENCE = 30.0  # seconds for one answer
_PATIENCE_AT_END = 5.0  # the user waits for the program to end


class Call(msgspec.Struct, frozen=True):
    """A call as a hook sees it."""

    id: str
    tool: str
    args: dict[str, Any]
    agent: str = ""


class Block(msgspec.Struct, frozen=True):
    """Returned by `before_call`: the call does not run, and the model reads why."""

    reason: str


class NewArgs(msgspec.Struct, frozen=True):
    """Returned by `before_call`: the call runs with these arguments instead."""

    args: dict[str, Any]


class Cancelled(msgspec.Struct, frozen=True):
    """Returned by `before_tree`: the move is not made."""

    reason: str = ""


class Summary(msgspec.Struct, frozen=True):
    """Returned by `before_tree`: the summary of the branch that is left."""

    text: str


Hook: TypeAlias = Callable[..., object]
Complain: TypeAlias = Callable[[str], None]


class Hooks:
    """The hooks of a session."""

    def __init__(self, report: Complain = lambda text: None) -> None:
        self._hooks: dict[str, list[tuple[str, Hook]]] = {}
        self.report = report
        self.patience = PATIENCE

    def add(self, moment: Moment, hook: Hook, owner: str = "") -> None:
        self._hooks.setdefault(moment, []).append((owner, hook))

    def __bool__(self) -> bool:
        return bool(self._hooks)

    async def before_call(self, call: Call) -> Call | Block:
        """The call to run, or why it does not."""
        for owner, hook in self._hooks.get("before_call", ()):
            answer = await self._ask(owner, hook, call)
            if isinstance(answer, Block):
                return answer
            if isinstance(answer, NewArgs):
                call = msgspec.structs.replace(call, args=answer.args)
        return call

    async def after_call(self, call: Call, outcome: Outcome) -> Outcome:
        for owner, hook in self._hooks.get("after_call", ()):
            answer = await self._ask(owner, hook, call, outcome)
            if isinstance(answer, Outcome):
                outcome = answer
        return outcome

    async def prompt(self, text: str) -> str:
        """The prompt as it is sent; a hook may return another text."""
        for owner, hook in self._hooks.get("prompt", ()):
            answer = await self._ask(owner, hook, text)
            if isinstance(answer, str):
                text = answer
        return text

    async def before_tree(self, details: dict[str, object]) -> Cancelled | Summary | None:
        for owner, hook in self._hooks.get("before_tree", ()):
            answer = await self._ask(owner, hook, details)
            if isinstance(answer, Cancelled | Summary):
                return answer
        return None

    async def notify(self, moment: Moment, *args: object) -> None:
        if moment == "session_end":
            self.patience = min(self.patience, _PATIENCE_AT_END)
        for owner, hook in self._hooks.get(moment, ()):
            await self._ask(owner, hook, *args)

    async def _ask(self, owner: str, hook: Hook, *args: object) -> object:
        try:
            answer = hook(*args)
            return await self._answer(answer) if isinstance(answer, Awaitable) else answer
        except Exception as error:
            self.report(clean_line(f"extension {owner or 'hook'}: {type(error).__name__}: {error}"))
            return None

    async def _answer(self, answer: Awaitable[object]) -> object:
        try:
            async with asyncio.timeout(self.patience) as waiting:
                return await answer
        except TimeoutError:
            if not waiting.expired():
                raise
            raise TimeoutError(f"no answer in {self.patience:g} s") from None
