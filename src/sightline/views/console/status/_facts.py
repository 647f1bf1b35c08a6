"""Small things about a session, read off its fold: what a status says. A value may come from anywhere."""

from typing import Any

from sightline.text import clean_line
from sightline.transcript import Call, Snapshot, Words

_DONE = ("completed", "abandoned", "done", "cancelled")


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
        retry, compaction = facts.get("retry"), facts.get("compaction")
        if isinstance(compaction, dict) and compaction.get("running"):
            return "summarising the conversation"
        if not self.state.running:
            return ""
        if self.waits:
            return "waiting for your answer"
        if isinstance(retry, dict):
            return clean_line(f"asking again: {retry.get('reason') or retry.get('error') or 'the server is busy'}")
        return self._last_act()

    def _last_act(self) -> str:
        for entry in reversed(self.state.entries[-50:]):
            if isinstance(entry, Call) and entry.content is None and not entry.is_job:
                name = clean_line(entry.name) or "a tool"
                return f"writing a call of {name}" if entry.written else f"running {name}"
            if isinstance(entry, Words):
                return "thinking" if entry.reasoning else "answering"
        return "working"


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def count(number: float) -> str:
    """`950`, `12.3k`, `1.2M`."""
    if number < 1000:
        return str(int(number))
    if number < 100_000:
        return f"{number / 1000:.1f}k"
    return f"{number / 1000:.0f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def duration(seconds: float) -> str:
    """`4 s`, `2:05`, `1:02:05`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
