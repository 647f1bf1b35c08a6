"""From bodies and chunks of chat completions to events: one turn per response, one run around them.

A whole response is read like a stream of one chunk. Rules:

- Text and thinking are passed on at once; what is contiguous is one block, with one filter of its own.
- A call is shown once, when its arguments are complete: when the next call or text begins and they are whole JSON, or
  when the response finishes. Calls stay in the model's order. A call that was cut off is announced as such, never shown
  as made.
- A response is over with `[DONE]`, with the next response, or, for a whole body, at once. Usage may come after
  `finish_reason`, so the turn ends only then.
- Only the first of several choices is shown.
- When a stream broke and the response is sent again, words and calls that were shown are not shown twice.
"""

import sightline.events as ev
from sightline.chat_completions import AnswerMessage, CallFragment, ChatBody, pieces
from sightline.events import Event, Reasoning, Text, ToolArgs
from sightline.providers._failure import hint_for
from sightline.providers._source import ProviderSource, add, add_usage, is_suspect
from sightline.providers.openai_compatible._calls import CallInProgress, is_complete, whole_call
from sightline.providers.openai_compatible._wire import error_status, error_text
from sightline.text import StreamFilter, clean_line, clean_text

# Past this a response is not compared: sent again, it is shown again.
_REMEMBERED_AT_MOST = 256 * 1024
_CALLS_REMEMBERED = 256


class RepeatedResponse:
    """What was shown of the response under way, and how far its repetition agrees with that, after its stream broke.

    Text arrives in pieces, cut differently each time, so what was shown is compared as one text: as long as the new
    pieces agree with it they are passed over, the first that goes beyond adds only the rest, and one that differs
    brings back all that was passed over. Nothing is compared while the stream is healthy.
    """

    def __init__(self) -> None:
        self.settle()

    def settle(self) -> None:
        """The response arrived whole: nothing of it will come again."""
        self._shown: list[str] = []
        self._size = 0
        self._calls: list[tuple[str, object]] = []
        self._expected = ""
        self._agreed = 0  # characters of the expected words that came again
        self.expects_words = False
        self._expected_calls: list[tuple[str, object]] = []

    def broke(self) -> None:
        """The stream of the response broke; the next response may be its repetition."""
        if not self.expects_words:
            self._expected = "".join(self._shown) if self._size <= _REMEMBERED_AT_MOST else ""
        self._agreed = 0
        self.expects_words = bool(self._expected)
        self._expected_calls = list(self._calls)

    def showed(self, words: str) -> None:
        if self._size <= _REMEMBERED_AT_MOST:
            self._size += len(words)
            self._shown.append(words)

    def rest(self, words: str) -> tuple[str, bool]:
        """What of these words is to be shown, and whether they contradict what was shown."""
        expected = self._expected[self._agreed :]
        if expected.startswith(words):
            self._agreed += len(words)
            self.expects_words = self._agreed < len(self._expected)
            return "", False
        self.expects_words = False
        if words.startswith(expected):
            return words[len(expected) :], False
        self._shown, self._size = [], 0
        return self._expected[: self._agreed] + words, True

    @property
    def expects_calls(self) -> bool:
        return bool(self._expected_calls)

    def is_known(self, name: str, args: object) -> bool:
        """Whether this call was shown before the break; if not, it is remembered as shown."""
        call = (name, args)
        if self._expected_calls:
            if self._expected_calls[0] == call:
                del self._expected_calls[0]
                return True
            self._expected_calls, self._calls = [], []
        if len(self._calls) < _CALLS_REMEMBERED:
            self._calls.append(call)
        return False


# A response with more calls than this at once is broken or hostile; the oldest are then shown as they are.
_CALLS_AT_MOST = 256
# Stands for the raw text of words that have passed the filter.
_CLEAN = b""
_CUT_SHORT = frozenset(("length", "max_tokens", "content_filter"))


class ChatTurns:
    """What is known about the run, and about the response under way."""

    def __init__(self, source: ProviderSource) -> None:
        self._source = source
        self._in_run = False
        self._in_turn = False
        self._model = ""
        self._last_finish = ""
        self._usage: ev.Usage | None = None  # of the run so far
        self._cost: float | None = None
        self.failed = False
        self.answers = 0  # responses that arrived whole
        self._again = RepeatedResponse()
        self._raw = _CLEAN
        self._forget_response()

    def _forget_response(self) -> None:
        self._response: object = None  # its id; empty when a body came that has none
        self._steady = False  # more than one chunk has that id
        self._streamed = False
        self._finish = ""
        self._turn_usage: ev.Usage | None = None
        self._turn_cost: float | None = None
        self._kind = ""  # of the block under way
        self._block = 0
        self._filter: StreamFilter | None = None  # once the block needs it
        self._calls: list[CallInProgress] = []

    def begin(self, session: str, model: str) -> list[Event]:
        """A run that is known to begin before its first byte arrives."""
        self._in_run = self._in_turn = True
        self._model = model
        return [ev.RunStarted(session, model), ev.TurnStarted()]

    def start_over(self) -> None:
        """Nothing was shown of the response under way; it is requested again."""
        self._forget_response()

    def take(self, body: ChatBody, raw: bytes) -> list[Event]:
        """The events of one body or chunk; `raw` is the text it was decoded from."""
        if body.is_error():
            return self._fail(error_text(body), hint_for(error_status(body)))
        events: list[Event] = []
        self._raw = raw
        if body.id != self._response or not self._in_turn:
            self._meet(body, events)
        else:
            self._steady = True
        if body.usage is not None and (reported := body.tokens()) is not None:
            self._turn_usage, self._turn_cost = reported.usage(), reported.dollars()
        for choice in body.choices or ():
            if choice.index:
                continue
            if choice.delta is not None:
                self._delta(choice.delta, events)
            elif choice.message is not None and not self._streamed:
                self._message(choice.message, choice.finish_reason, events)
                break  # of several choices without an index, too, only the first is shown
            if choice.finish_reason:
                self._note_finish(choice.finish_reason, events)
        return events

    def done(self) -> list[Event]:
        """The server ended the response."""
        events: list[Event] = []
        if self._in_turn:
            self._end_turn(events, whole=True)
        return events

    def end(self) -> list[Event]:
        """No more bytes will come."""
        events: list[Event] = []
        if self._in_turn:
            self._end_or_break(events)
        return events + self._end_run("")

    def stop(self, reason: str, exit_code: int) -> list[Event]:
        """The run was cut off from our side: what is unfinished stays so, and is no failure."""
        events: list[Event] = []
        if self._in_turn:
            self._finish = self._finish or reason
            self._end_turn(events, whole=False)
        return events + self._end_run(reason, exit_code)

    def _meet(self, body: ChatBody, events: list[Event]) -> None:
        """A body with another id, which begins a response if it has a role or a message. But some servers give every
        chunk its own id, a role in each, and others an empty id to what comes before the answer."""
        begins = any(choice.message or (choice.delta and choice.delta.role) for choice in body.choices or ())
        if begins and self._in_turn and body.id and self._response and (self._steady or self._finish):
            self._end_or_break(events)
        model = clean_line(body.model) if isinstance(body.model, str) else ""
        if not self._in_run:
            self._in_run, self._model = True, model
            events.append(ev.RunStarted(model=model))
        elif model and model != self._model:
            self._model = model
            events.append(ev.ModelState(model).as_state())
        if not self._in_turn:
            self._in_turn = True
            events.append(ev.TurnStarted())
        if body.id or self._response is None:
            self._response = body.id

    def _delta(self, delta: AnswerMessage, events: list[Event]) -> None:
        self._streamed = True
        content = delta.content
        if content and self._kind == "text" and type(content) is str and not delta.reasoning_content:
            self._continue(content, events)  # nearly every chunk there is
        elif content or delta.reasoning_content or delta.reasoning or delta.thinking or delta.refusal:
            for kind, words in pieces(delta):
                self._add_words(kind, words, events)
        if delta.tool_calls is not None or delta.function_call is not None:
            for fragment in delta.calls():
                self._fragment(fragment, events)

    def _message(self, message: AnswerMessage, finish_reason: object, events: list[Event]) -> None:
        self._raw = _CLEAN
        for kind, words in pieces(message):
            self._add_words(kind, clean_text(words), events)
        self._note_finish(finish_reason, events)
        for call in message.calls():
            use = whole_call(self._source.open_call(""), call)
            if self._finish in _CUT_SHORT and not is_complete(use.args):
                self._announce_cut(use.native_name, events)
            elif not self._again.is_known(use.native_name, use.args):
                events.append(use)
        self._end_turn(events, whole=True)

    def _add_words(self, kind: str, words: str, events: list[Event]) -> None:
        """Words that may begin a block."""
        kind = "text" if kind == "refusal" else kind
        if self._calls:
            self._release(events, blank=True)
        if kind != self._kind:
            self._close_block(events)
            if kind == "other":
                events.append(ev.Notice(f"a part of type {clean_line(words)[:80]} is not shown"))
                return
            self._kind = kind
            self._block = self._source.new_block()
        self._continue(words, events)

    def _continue(self, words: str, events: list[Event]) -> None:
        """More words of the block under way."""
        if self._filter is not None:
            words = self._filter.feed(words)
        elif not words.isprintable() and is_suspect(self._raw):
            self._filter = StreamFilter()
            words = self._filter.feed(words)
        if self._kind == "reasoning":
            if words:
                events.append(Reasoning(words, self._block))
            return
        if self._again.expects_words:
            words = self._resent(words, events)
        if words:
            self._again.showed(words)
            events.append(Text(words, self._block))

    def _resent(self, words: str, events: list[Event]) -> str:
        words, differs = self._again.rest(words)
        if differs:
            events.append(ev.Notice("what follows may repeat what is shown above"))
        return words

    def _close_block(self, events: list[Event]) -> None:
        if self._filter is not None:
            held, self._filter = self._filter.end(), None
            raw, self._raw = self._raw, _CLEAN
            self._continue(held, events)
            self._raw = raw  # other words of the same line may follow
        self._kind = ""

    def _fragment(self, fragment: CallFragment, events: list[Event]) -> None:
        calls = self._calls
        if calls and calls[-1].takes(fragment):
            call: CallInProgress | None = calls[-1]
        else:
            call = next((call for call in calls if call.takes(fragment)), None)
        if call is None:
            function = fragment.function or fragment.custom
            if function is None or not (function.name or function.arguments or function.input):
                return  # the closing fragment of a call that has been shown
            self._close_block(events)
            self._release(events, blank=False)
            call = CallInProgress(self._source.open_call(""), fragment.index)
            calls.append(call)
            if len(calls) > _CALLS_AT_MOST:
                self._show(calls.pop(0), events)
        delta = call.add(fragment)
        if delta and self._streamed and not self._again.expects_calls:
            events.append(ToolArgs(call.id, call.name, delta))

    def _release(self, events: list[Event], *, blank: bool) -> None:
        """Show the calls that are complete, in order; `blank`: whether one without arguments is."""
        calls = self._calls
        while calls and (calls[0].is_complete() or (blank and calls[0].is_blank())):
            self._show(calls.pop(0), events)

    def _finish_calls(self, events: list[Event], *, whole: bool) -> None:
        """No fragment will follow. What the model did not finish writing is not a call."""
        for call in self._calls:
            if whole or call.is_complete():
                self._show(call, events)
            else:
                self._announce_cut(call.native_name, events)
        self._calls = []

    def _show(self, call: CallInProgress, events: list[Event]) -> None:
        use = call.tool_use()
        if not self._again.is_known(use.native_name, use.args):
            events.append(use)

    def _announce_cut(self, name: str, events: list[Event]) -> None:
        cut = f"a call of {name or 'a tool'} was cut off before its arguments were complete"
        events.append(ev.Notice(cut, level="warning"))

    def _note_finish(self, reason: object, events: list[Event]) -> None:
        self._finish = clean_line(reason)[:80] if isinstance(reason, str) and reason else "stop"
        self._close_block(events)
        self._finish_calls(events, whole=self._finish not in _CUT_SHORT)

    def _end_or_break(self, events: list[Event]) -> None:
        if self._finish:
            self._end_turn(events, whole=True)
            return
        self.failed = True
        self._close_block(events)
        self._finish_calls(events, whole=False)
        if self._response is None and not self._streamed:
            text, hint = "the server sent no chat completion", "check the base URL: it usually ends in /v1"
        else:
            text, hint = "the stream ended early", "what is shown may be incomplete; ask again"
        events.append(ev.Error(text, hint))
        self._again.broke()
        self._end_turn(events, whole=False)

    def _end_turn(self, events: list[Event], *, whole: bool) -> None:
        self._close_block(events)
        self._finish_calls(events, whole=whole)
        events.append(ev.TurnEnded(self._turn_usage, self._turn_cost, self._finish))
        self._usage = add_usage(self._usage, self._turn_usage)
        self._cost = add(self._cost, self._turn_cost)
        if whole:
            self.answers += 1
            self._again.settle()
        self._last_finish = self._finish
        self._in_turn = False
        self._forget_response()

    def _fail(self, text: str, hint: str) -> list[Event]:
        events: list[Event] = []
        if not self._in_run:
            self._in_run = True
            events.append(ev.RunStarted())
        self._close_block(events)
        self._finish_calls(events, whole=False)
        events.append(ev.Error(f"API error: {text}", hint))
        self.failed = True
        if self._in_turn:
            self._finish = "error"
            self._end_turn(events, whole=False)
        return events

    def _end_run(self, reason: str, exit_code: int | None = None) -> list[Event]:
        if not self._in_run:
            return []
        self._in_run = False
        reason = reason or ("error" if self.failed else self._last_finish)
        return [ev.RunEnded(self._usage, self._cost, reason, self.failed, exit_code)]
