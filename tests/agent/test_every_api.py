"""One task through every model API: the stand-in plays the model, everything else is real.

A shop's total is wrong. The model searches and reads, edits two files at once, runs the tests, sees that one of its
edits was not right, mends it, and runs the tests again.
"""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.agent import AgentSpec
from sightline.conversation import AssistantMessage, ToolMessage, text_of
from sightline.events import Error, Reasoning, RunEnded, Text, ToolResult, ToolUse, TurnEnded, TurnStarted
from sightline.host import working
from sightline.settings import Policy, StartOptions, load
from sightline.testing.standin import StandIn
from sightline.tools.hashline import Snapshots, header
from tests.agent.support import Lab, kept, store_in

APIS: dict[str, tuple[str, Callable[[str], dict[str, str]]]] = {
    "anthropic": ("anthropic/claude-x", lambda url: {"ANTHROPIC_BASE_URL": url}),
    "responses": ("openai/gpt-x", lambda url: {"OPENAI_BASE_URL": f"{url}/v1"}),
    "chat": ("openai-chat/gpt-x", lambda url: {"OPENAI_BASE_URL": f"{url}/v1"}),
    "gemini": ("google/gemini-x", lambda url: {"GEMINI_BASE_URL": url}),
}

PRICES = "def price(item):\n    return {'tea': 3, 'cake': 5}[item] + 1\n"
SHOP = "from prices import price\n\n\ndef total(items):\n    return max(price(item) for item in items)\n"
TESTS = (
    "from shop import total\n\n"
    "assert total(['tea', 'cake']) == 8, total(['tea', 'cake'])\n"
    "assert total([]) == 0\n"
    "print('all tests pass')\n"
)
RIGHT_PRICES = "def price(item):\n    return {'tea': 3, 'cake': 5}[item]\n"
HALF_RIGHT_SHOP = SHOP.replace(
    "return max(price(item) for item in items)", "return sum(price(item) for item in items[1:])"
)
RIGHT_SHOP = SHOP.replace("max", "sum")
RUN = {"tool": "bash", "args": {"command": f"{sys.executable} -B test_shop.py"}}


def section(work: Path, name: str, text: str, line: int, new: str) -> str:
    return f"{header(name, Snapshots().record(work / name, text))}\nreplace {line}..{line}:\n+{new}\n"


def script(work: Path) -> list[list[dict[str, Any]]]:
    both = section(work, "prices.py", PRICES, 2, RIGHT_PRICES.splitlines()[1])
    both += section(work, "shop.py", SHOP, 5, HALF_RIGHT_SHOP.splitlines()[4])
    mended = section(work, "shop.py", HALF_RIGHT_SHOP, 5, RIGHT_SHOP.splitlines()[4])
    return [
        [
            {"reasoning": "Where is the total worked out?"},
            {"text": "I look for it. 日本語 👨‍👩‍👧‍👦", "chunk": 3},
            {"tool": "search", "args": {"pattern": r"def \w+", "paths": "."}},
            RUN,
        ],
        [{"tool": "read", "args": {"path": "shop.py"}}, {"tool": "read", "args": {"path": "prices.py"}}],
        [{"text": "Two mistakes."}, {"tool": "edit", "args": {"input": both}, "chunk": 7}],
        [RUN],
        [{"reasoning": "I left one out."}, {"tool": "edit", "args": {"input": mended}}],
        [RUN],
        [{"text": "Both files are mended and the tests pass."}],
    ]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for name, text in (("prices.py", PRICES), ("shop.py", SHOP), ("test_shop.py", TESTS)):
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("api", APIS)
async def test_a_task(api: str, tmp_path: Path, work: Path) -> None:
    """Both files are right, each call has one result, nothing is said twice, and every turn's tokens are known."""
    name, environ = APIS[api]
    async with StandIn(script(work)) as server:
        spec = AgentSpec(
            cwd=work,
            settings=load(work, flags={"permissions.sandbox": "false"}, environ={}).settings,
            policy=Policy("edit", ["exec"], [], work),
            options=StartOptions(model=name),
            environ=environ(server.url),
        )
        store = store_in(tmp_path)
        async with working(store, spec, attended=False) as running:
            here = Lab(running, store)
            try:
                outcome = await here.run("The total is wrong. Mend it.")
            finally:
                here.close()
        session, seen = running.session.id, list(here.seen)
        assert running.agent.model.model.api == api
        assert len(server.conversations) == 7, "nothing was asked again"
    assert (outcome.exit_code, outcome.text) == (0, "Both files are mended and the tests pass.")
    assert (work / "prices.py").read_text() == RIGHT_PRICES
    assert (work / "shop.py").read_text() == RIGHT_SHOP
    check_events(seen)
    check_conversation(here)
    assert kept(tmp_path, session)[: len(seen)] == seen


def check_events(seen: list[Any]) -> None:
    assert [event.seq for event in seen] == sorted({event.seq for event in seen})
    assert not [event for event in seen if isinstance(event, Error)]
    uses = [event for event in seen if isinstance(event, ToolUse)]
    results = [event for event in seen if isinstance(event, ToolResult)]
    assert [event.native_name for event in uses] == ["search", "bash", "read", "read", "edit", "bash", "edit", "bash"]
    assert Counter(event.id for event in uses) == Counter(event.id for event in results)
    assert set(Counter(event.id for event in uses).values()) == {1}
    for use in uses:
        (result,) = [event for event in results if event.id == use.id]
        assert use.seq < result.seq
    by_id = {event.id: event for event in results}
    ran = [by_id[event.id] for event in uses if event.native_name == "bash"]
    assert [result.exit_code for result in ran] == [1, 1, 0]
    assert "all tests pass" in ran[-1].content
    said = "".join(event.text for event in seen if isinstance(event, Text))
    assert said == "I look for it. 日本語 👨‍👩‍👧‍👦Two mistakes.Both files are mended and the tests pass."
    turns = [event for event in seen if isinstance(event, TurnEnded)]
    assert len(turns) == len([event for event in seen if isinstance(event, TurnStarted)]) == 7
    assert all(turn.usage is not None and turn.usage.input_tokens and turn.usage.output_tokens for turn in turns)
    (ended,) = [event for event in seen if isinstance(event, RunEnded)]
    assert ended.usage is not None
    assert ended.usage.output_tokens == sum((turn.usage and turn.usage.output_tokens) or 0 for turn in turns)
    assert "".join(event.text for event in seen if isinstance(event, Reasoning)).endswith("I left one out.")


def check_conversation(here: Lab) -> None:
    answers = [message for message in here.messages if isinstance(message, AssistantMessage)]
    results = [message for message in here.messages if isinstance(message, ToolMessage)]
    assert [call.id for answer in answers for call in answer.calls] == [result.call for result in results]
    assert len({call.id for answer in answers for call in answer.calls}) == len(results)
    assert "assert total" in text_of(results[1])
    assert [answer.stop_reason for answer in answers] == ["tool_use"] * 6 + ["stop"]
