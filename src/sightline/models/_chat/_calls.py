"""Tool calls of a streamed answer, put together from their fragments.

Which fragments are of one call: `sightline.chat_completions`. A name that comes with each fragment (llama.cpp) is not
joined. Arguments are a JSON text in pieces or, from some servers, an object.
"""

from collections.abc import Iterator

from sightline.chat_completions import CallFragment, ChatFunctionCall, continues
from sightline.models._api import Piece
from sightline.models._assembly import Assembly, decoded_arguments
from sightline.models.http import _json

_NO_FUNCTION = ChatFunctionCall()


class _Call:
    def __init__(self, key: object) -> None:
        self.key = key
        self.native_id = self.name = ""
        self.arguments: list[str] = []

    def is_complete(self) -> bool:
        end = next((piece for piece in reversed(self.arguments) if piece.strip()), "")
        return end.rstrip().endswith("}") and not decoded_arguments("".join(self.arguments))[1]


class ChatCalls:
    """The calls of one answer, in the order they began."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._calls: list[_Call] = []
        self._last: dict[int | str | None, _Call] = {}  # of each index the last call, of None the last of all

    @property
    def begun(self) -> bool:
        return bool(self._calls)

    def take(self, fragment: CallFragment) -> Iterator[Piece]:
        function = fragment.function or _NO_FUNCTION
        call = self._call_of(fragment)
        if isinstance(fragment.id, str):
            call.native_id = call.native_id or fragment.id
        if isinstance(function.name, str):
            call.name = call.name or function.name
        text = _text(function.arguments)
        call.arguments.append(text)
        if not call.name:
            return  # it cannot be shown yet
        begun = self._assembly.call(call.key, call.name, call.native_id)
        if begun is not None:
            yield begun
            text = "".join(call.arguments)
        delta = self._assembly.arguments(call.key, text)
        if delta is not None:
            yield delta

    def end(self) -> Iterator[Piece]:
        """The answer is over: a call whose name never came is one all the same, so that the model hears of it."""
        for call in self._calls:
            if not call.name:
                begun = self._assembly.call(call.key, "", call.native_id)
                delta = self._assembly.arguments(call.key, "".join(call.arguments))
                yield from [piece for piece in (begun, delta) if piece is not None]

    def _call_of(self, fragment: CallFragment) -> _Call:
        index = fragment.index if isinstance(fragment.index, int | str) else None
        last = self._last.get(index)
        if last is not None and continues(fragment, last):
            return last
        if fragment.id and index is None:
            known = next((call for call in self._calls if call.native_id == fragment.id), None)
            if known is not None:
                return known
        index = len(self._calls) if index is None else index
        call = _Call(len(self._calls))
        self._calls.append(call)
        self._last[index] = self._last[None] = call
        return call


def _text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else _json.encode(arguments).decode()
