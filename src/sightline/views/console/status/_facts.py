"""Small things about a session, read off its fold: what a status says. A value may come from anywhere."""

from typing import Any

from sightline.text import clean_line
from sightline.transcript import Call, Message, Snapshot, Words
from sightline.views.console.shapes._shape import seconds_words

_DONE = ("completed", "abandoned", "done", "cancelled")
_LOOKED_AT = 50  # entries, from the end


class Facts:
    """A reading glass for one snapshot; reads anew each time."""

    def __init__(self, state: Snapshot) -> None:
        self.state = state

    @property
    def model(self) -> str:
        said = self.state.state.get("model")
        return clean_line(said) if isinstance(said, str) and said else clean_line(self.state.model)

    @property
    def provider(self) -> str:
        """Whose agent works; empty: our own."""
        said = self.state.state.get("provider")
        return clean_line(said) if isinstance(said, str) else ""

    @property
    def lacks_model(self) -> bool:
        """Our own agent works here, and reports that it has no model."""
        return self.state.state.get("model") == "" and not self.provider

    @property
    def takes_steering(self) -> bool:
        """Whether words said meanwhile reach a run that goes on; else they are queued."""
        return self.state.state.get("steering") is not False

    @property
    def thinking(self) -> str:
        said = self.state.state.get("thinking")
        return clean_line(said) if isinstance(said, str) else ""

    @property
    def approval(self) -> str:
        """The level; empty where nobody has said it."""
        said = self.state.state.get("approval")
        level = said.get("level") if isinstance(said, dict) else None
        return clean_line(level) if isinstance(level, str) else ""

    @property
    def context(self) -> tuple[int, int] | None:
        """Tokens in the model's memory, and how many fit (0: nobody knows)."""
        said = self.state.state.get("context")
        used = said.get("used") if isinstance(said, dict) else None
        most = said.get("of") if isinstance(said, dict) else None
        if not isinstance(used, int):
            return None
        return used, most if isinstance(most, int) else 0

    @property
    def queue(self) -> list[dict[str, Any]]:
        return _rows(self.state.state.get("queue"))

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """Those that run."""
        return [job for job in _rows(self.state.state.get("jobs")) if job.get("status") == "running"]

    @property
    def commands(self) -> list[dict[str, Any]]:
        """Those of extensions."""
        return _rows(self.state.state.get("commands"))

    @property
    def agents(self) -> int:
        return sum(agent.running for agent in self.state.agents.values())

    @property
    def todo(self) -> list[dict[str, Any]]:
        return _rows(self.state.state.get("todo"))

    @property
    def open_todo(self) -> list[dict[str, Any]]:
        return [task for task in self.todo if task.get("status") not in _DONE]

    @property
    def tokens(self) -> tuple[int, int]:
        """Read and written, by everybody."""
        read = written = 0
        for total in self.state.totals.values():
            read += (total.input_tokens or 0) + (total.cache_read_tokens or 0) + (total.cache_write_tokens or 0)
            written += total.output_tokens or 0
        return read, written

    @property
    def cost(self) -> float:
        return sum([total.cost or 0.0 for total in self.state.totals.values()])

    @property
    def waits(self) -> int:
        """How many answers are waited for."""
        return len(self.state.requests)

    @property
    def going_on(self) -> str:
        """What the agent is at, in a word or two; empty when it is at nothing."""
        facts = self.state.state
        compaction = facts.get("compaction")
        if isinstance(compaction, dict) and compaction.get("running"):
            return "summarising the conversation"
        if not self.state.running:
            return ""
        if self.waits:
            return "waiting for your answer"
        if isinstance(facts.get("starting"), str):
            return clean_line(f"starting {facts['starting']}")
        if self.retry is not None:
            return self.asking_again(None)
        return self._last_act()

    @property
    def retry(self) -> dict[str, Any] | None:
        """Why and when a server that could not answer is asked again; None while none is."""
        said = self.state.state.get("retry")
        return said if isinstance(said, dict) else None

    def asking_again(self, left: float | None) -> str:
        """`left`: seconds until then, where that is known."""
        retry = self.retry or {}
        when = f" in {seconds_words(left)}" if left is not None else ""
        number, most = retry.get("attempt"), retry.get("attempts")
        which = f" ({number} of {most})" if isinstance(number, int) and isinstance(most, int) else ""
        why = retry.get("reason") or retry.get("error") or "the server is busy"
        return clean_line(f"retrying{when}{which}: {why}")

    def _last_act(self) -> str:
        """Of the agent's: what the person runs beside it is none of its doing, and what it said before it was asked, or
        before a call that has ended, is over."""
        over = False
        for entry in reversed(self.state.entries[-_LOOKED_AT:]):
            if isinstance(entry, Message) and not entry.agent and entry.how != "steer":
                break
            if isinstance(entry, Call) and not (entry.is_persons or entry.is_job):
                if entry.content is None:
                    name = clean_line(entry.name) or "a tool"
                    return f"preparing {name.lower()}" if _is_prepared(entry) else f"running {name}"
                over = True
            if isinstance(entry, Words) and not over:
                return "thinking" if entry.reasoning else "answering"
        return "working"

    @property
    def call(self) -> Call | None:
        """What the agent runs now: the last call of its own that goes on."""
        for entry in reversed(self.state.entries[-_LOOKED_AT:]):
            if isinstance(entry, Message) and not entry.agent and entry.how != "steer":
                break
            if isinstance(entry, Call) and not (entry.is_persons or entry.is_job) and entry.content is None:
                return entry
        return None

    @property
    def typed(self) -> Call | None:
        """What the person runs themselves: the last that goes on."""
        entries = reversed(self.state.entries[-_LOOKED_AT:])
        calls = (entry for entry in entries if isinstance(entry, Call) and entry.is_persons)
        return next((call for call in calls if call.content is None and not call.is_job), None)


def _is_prepared(call: Call) -> bool:
    """The model still writes its arguments."""
    return bool(call.written) and call.args is None


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def count(number: float) -> str:
    """`950`, `12.3k`, `128k`, `1M`, `1.2M`."""
    if number < 1000:
        return str(int(number))
    if number < 99_950:
        return f"{number / 1000:.1f}".removesuffix(".0") + "k"
    return f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}".removesuffix(".0") + "M"
