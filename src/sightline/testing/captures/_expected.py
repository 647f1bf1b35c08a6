"""The `expected` of a recording's meta: the script block by block, and what of it the output shows."""

from typing import Any

from sightline.testing.captures._scenarios import Scenario
from sightline.testing.captures._witness import Seen, key_of
from sightline.testing.standin import MAIN, Calling, ErrorBlock, ReadyTurn, Saying, Thinking

_INTENTS = {"bash": "run", "task": "delegate", "wait_agent": "wait_agent"}


def expected(scenario: Scenario, turns: list[ReadyTurn], provider: str, seen: Seen | None) -> list[dict[str, Any]]:
    """Main agent first, each agent in its own order. Without `seen` nothing is said about the output."""
    blocks = _errors(scenario)
    agents = list(dict.fromkeys([MAIN, *(turn.agent for turn in turns)]))
    for turn in sorted(turns, key=lambda turn: (agents.index(turn.agent), turn.index)):
        for speech in turn.speeches:
            block = {"agent": turn.agent, "turn": turn.index}
            match speech:
                case Saying():
                    block |= {"type": "text", "text": speech.text}
                    if speech.block.cut_at is not None:
                        block["stream_cut_at"] = speech.block.cut_at
                    if seen is not None:
                        block["on_wire"] = bool(speech.text) and speech.text in seen.words
                case Thinking():
                    block |= {"type": "thinking", "text": speech.text}
                    if seen is not None:
                        block["on_wire"] = speech.text in seen.thoughts
                case Calling():
                    block |= _call(scenario, speech, provider, seen)
            blocks.append(block)
    return sorted(blocks, key=lambda block: (agents.index(block["agent"]), block["turn"]))


def _errors(scenario: Scenario) -> list[dict[str, Any]]:
    return [
        {
            "agent": MAIN,
            "turn": number,
            "type": "api_error",
            "status": block.status,
            "message": block.error,
            "times": block.times,
        }
        for number, turn in enumerate(scenario.script.turns)
        for block in turn
        if isinstance(block, ErrorBlock)
    ]


def _call(scenario: Scenario, call: Calling, provider: str, seen: Seen | None) -> dict[str, Any]:
    tool = call.block.tool.lower()
    argument = str(call.block.args.get("command") or call.block.args.get("file_path") or "")
    contains = scenario.outputs.get(argument) if tool in ("bash", "read") else None
    described: dict[str, Any] = {
        "type": "tool_call",
        "intent": _INTENTS.get(tool, tool),
        "name": call.name,
        "arguments": call.args,
        "outcome": "error" if argument in scenario.failing else "ok",
    }
    if contains is not None:
        described["output_contains"] = contains
    if seen is None:
        return described
    found = seen.take(key_of(provider, call))
    described["on_wire"] = found is not None
    if found is not None:
        described["cli_status"] = found.status
        if contains is not None:
            described["output_on_wire"] = contains in found.output
    return described
