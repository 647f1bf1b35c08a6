"""Sessions whose agent starts others: scripts for each of them, by their ids."""

from typing import Any

from sightline.events import AgentState, Event, ToolResult, state_fact
from tests.agent.support import Lab


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args}


def handed_back(result: Any = "done", **more: Any) -> list[dict[str, Any]]:
    """A turn in which an agent hands back its result."""
    return [call("yield", result=result, **more)]


def started(scripts: dict[str, list[Any]], agent: str = "task", **more: Any) -> dict[str, Any]:
    """A call that starts an agent for each script."""
    tasks = [{"id": id, "description": f"the part of {id}", "assignment": f"Do the part of {id}."} for id in scripts]
    args = {"agent": agent, "context": "The goal.", "tasks": tasks, **more}
    return {"tool": "task", "args": args, "agents": scripts}


def result_of(here: Lab, number: int = 0) -> ToolResult:
    """The result of a call of the session's own agent."""
    return [event for event in here.of(ToolResult) if not event.agent][number]


def states(here: Lab, path: str) -> list[str]:
    """The states an agent went through."""
    found = [state_fact(event) for event in here.seen if event.agent == path and getattr(event, "key", "") == "agent"]
    names = [fact.state for fact in found if isinstance(fact, AgentState)]
    return [name for number, name in enumerate(names) if not number or names[number - 1] != name]


def of_agent(here: Lab, path: str, kind: type[Event]) -> list[Any]:
    return [event for event in here.seen if event.agent == path and isinstance(event, kind)]
