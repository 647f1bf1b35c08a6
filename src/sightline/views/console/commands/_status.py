"""`/status`: the facts of the status line, and those it has no room for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sightline.text import clean_line
from sightline.views.console._agent_names import agent_name
from sightline.views.console.status import Facts
from sightline.views.console.status._facts import count

if TYPE_CHECKING:
    from sightline.views.console._console import Console


def open(console: "Console", args: str) -> None:
    console.report("\n".join(_lines(console)))


def _lines(console: "Console") -> Iterator[str]:
    facts, current = Facts(console.state), console.current
    if current.note:
        yield current.note
    yield f"session: {console.session or 'none yet'} in {console.cwd}" + (f" ({current.branch})" * bool(current.branch))
    yield f"agent: {facts.activity or ('waits for you' if console.state.requests else 'idle')}"
    yield f"model: {facts.model or 'none: /model'}" + (f", thinking {facts.thinking}" if facts.thinking else "")
    if facts.approval:
        yield f"approval: {facts.approval}"
    if facts.context is not None:
        used, most = facts.context
        yield f"context: {count(used)} tokens" + (f" of {count(most)}, {used / most:.0%}" if most else "")
    read, written = facts.tokens
    yield f"tokens: {count(read)} read, {count(written)} written; cost: ${facts.cost:.4f}"
    yield f"queued: {len(facts.queue)}; jobs: {len(facts.jobs)}; agents working: {facts.agents}"
    for path, agent in console.state.agents.items():
        total = console.state.totals.get(path)
        spent = f", {count((total.input_tokens or 0) + (total.output_tokens or 0))} tokens" if total else ""
        yield f"agent {agent_name(path, agent)}: {agent.standing}{spent}"
    yield from (clean_line(extra) for extra in current.extension_texts)
