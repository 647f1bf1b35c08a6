"""The list of completions below an editor: asks providers a moment after the last key, and narrows meanwhile."""

from collections.abc import Callable, Sequence
from functools import partial

from sightline.tty._component import Rows
from sightline.tty.components._select import Item, SelectList
from sightline.tty.components.editor._completion import CompletionProvider, CompletionRequest, Completions
from sightline.tty.frame._scheduler import CallLater, Timer
from sightline.tty.input._bindings import Bindings
from sightline.tty.theme._theme import Theme

_DEBOUNCE = 0.03
_ROWS = 8


class Popup:
    """What could be completed where the cursor is. Columns count characters of the cursor's line."""

    def __init__(
        self,
        theme: Theme,
        bindings: Bindings,
        providers: Sequence[CompletionProvider],
        call_later: CallLater | None,
        on_late: Callable[[], None],
    ) -> None:
        self._providers = providers
        self._call_later = call_later
        self._on_late = on_late
        self._list = SelectList(max_rows=_ROWS, bindings=bindings, theme=theme)
        self._timer: Timer | None = None
        self._request: CompletionRequest | None = None
        self._answers: dict[int, Completions] = {}
        self._silent: set[int] = set()
        """Providers that have not answered yet; what was shown before stays until all have."""
        self._shown: Completions | None = None
        self._replaced_from = self._ranked_from = 0

    @property
    def has_providers(self) -> bool:
        return bool(self._providers)

    @property
    def is_open(self) -> bool:
        return self._shown is not None and len(self._list) > 0

    @property
    def submits(self) -> bool:
        """Whether enter on what is shown also submits the text."""
        return self._shown is not None and self._shown.submits

    @property
    def only_one(self) -> bool:
        return len(self._list) == 1

    def render(self, width: int) -> Rows:
        return self._list.render(width) if self.is_open else ()

    def invalidate(self) -> None:
        self._list.invalidate()

    def move(self, step: int) -> None:
        self._list.move(step)

    def typed(self, request: CompletionRequest) -> None:
        self._narrow(request)
        self._stop_timer()
        if self._call_later is None:
            self.ask(request)
        else:
            self._timer = self._call_later(_DEBOUNCE, lambda: self._ask_late(request))

    def ask(self, request: CompletionRequest) -> None:
        """Ask every provider now. The first in their order that knows something is shown."""
        self._stop_timer()
        self._request, self._answers = request, {}
        self._silent = set(range(len(self._providers)))
        for number, provider in enumerate(self._providers):
            provider.complete(request, partial(self._answered, request, number))

    def accept(self) -> tuple[int, Item] | None:
        """The highlighted item, and the column from which it replaces the text up to the cursor."""
        item = self._list.highlighted if self.is_open else None
        self.close()
        return None if item is None else (self._replaced_from, item)

    def close(self) -> None:
        """Show nothing, and want no answer that is still to come."""
        self._stop_timer()
        self._request, self._shown = None, None

    def _ask_late(self, request: CompletionRequest) -> None:
        self.ask(request)
        self._on_late()

    def _answered(self, request: CompletionRequest, number: int, answer: Completions | None) -> None:
        if self._request is not request:
            return
        self._silent.discard(number)
        if answer is not None and answer.items:
            self._answers[number] = answer
            if number == min(self._answers):
                self._show(request, answer)
        elif not self._silent and not self._answers:
            self._shown = None
        self._on_late()

    def _show(self, request: CompletionRequest, answer: Completions) -> None:
        self._replaced_from = max(0, len(request.before) - answer.replaces)
        self._ranked_from = max(0, len(request.before) - answer.ranked_by)
        self._list.in_order = answer.in_order
        if self._shown is None or self._shown.items != answer.items:
            self._list.set_items(answer.items)
        self._shown = answer
        self._list.set_query(request.before[self._ranked_from :])

    def _narrow(self, request: CompletionRequest) -> None:
        if self._shown is None or self._request is None:
            return
        query = request.before[self._ranked_from :]
        same_place = request.line == self._request.line and request.before.startswith(
            self._request.before[: self._ranked_from]
        )
        if not same_place or len(request.before) < self._ranked_from or (query and query[-1].isspace()):
            self._shown = None
            return
        self._list.set_query(query)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
