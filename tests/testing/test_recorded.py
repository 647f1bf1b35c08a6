"""Recordings made with our own recorder: sources show what reached the wire, and no recording names a machine."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.events import Event, Reasoning, Text, ToolUse
from sightline.providers import EventStream, get_provider
from sightline.text import clean_text

FOLDER = Path(__file__).parents[1] / "captures" / "recorded"
METAS = sorted(FOLDER.glob("*/*.meta.json"))
CLI_METAS = [path for path in METAS if path.parent.name != "openai_compatible"]
CHAT_METAS = [path for path in METAS if path.parent.name == "openai_compatible"]

Block = dict[str, Any]


def label(path: Path) -> str:
    return f"{path.parent.name}-{path.name.removesuffix('.meta.json')}"


def events_of(provider: str, content: bytes) -> list[Event]:
    source = get_provider(provider).source
    assert source is not None
    stream = EventStream(source())
    return [*stream.feed(content), *stream.end()]


def expected_of(path: Path) -> list[Block]:
    blocks: list[Block] = msgspec.json.decode(path.read_bytes())["expected"]
    return blocks


def of_kind(blocks: list[Block], kind: str) -> list[Block]:
    return [block for block in blocks if block["type"] == kind and block.get("on_wire", True)]


@pytest.mark.parametrize("meta", CLI_METAS, ids=label)
def test_what_reached_the_wire_is_shown_once(meta: Path) -> None:
    """The main agent's words exactly, and as many calls of each agent as the output has."""
    blocks = expected_of(meta)
    events = events_of(meta.parent.name, meta.with_name(meta.name.replace(".meta.json", ".jsonl")).read_bytes())
    words = "".join(event.text for event in events if isinstance(event, Text) and event.agent == "")
    said = "".join(clean_text(block["text"]) for block in of_kind(blocks, "text") if block["agent"] == "main")
    if not any("stream_cut_at" in block and not block["on_wire"] for block in blocks):
        assert words == said
    assert sum(isinstance(event, ToolUse) for event in events) == len(of_kind(blocks, "tool_call"))
    thoughts = "".join(event.text for event in events if isinstance(event, Reasoning))
    assert thoughts == "".join(block["text"] for block in of_kind(blocks, "thinking"))


@pytest.mark.parametrize("ending", [".json", ".sse"])
@pytest.mark.parametrize("meta", CHAT_METAS, ids=label)
def test_what_an_endpoint_said_is_shown_once(meta: Path, ending: str) -> None:
    """The same for bodies and streams of chat completions that arrived whole."""
    described = msgspec.json.decode(meta.read_bytes())
    files = [file for file in described["files"] if file["file"].endswith(ending)]
    content = b"\n".join(meta.with_name(file["file"]).read_bytes() for file in files)
    events = events_of("openai_compatible", content)
    calls = [event.native_name for event in events if isinstance(event, ToolUse)]
    assert calls == [block["name"] for block in of_kind(described["expected"], "tool_call")]
    if all(file["complete"] for file in files):
        words = "".join(event.text for event in events if isinstance(event, Text))
        assert words == "".join(block["text"] for block in of_kind(described["expected"], "text"))


def test_no_recording_names_a_machine() -> None:
    """Every absolute path is one of the box's own or a system's, and no address but the stand-in's is in them."""
    paths = re.compile(rb"(?<!\w)/(?:home/(?!dev\b)\w+|root\b|Users\b|mnt\b|srv\b|tmp/(?!claude)\w+)[\w./-]*")
    addresses = re.compile(rb"https?://(?!127\.0\.0\.1:8080)[\w.-]*(?:localhost|127\.0\.0\.1|internal|local)[\w.:-]*")
    found = {
        (path.name, match.group())
        for path in FOLDER.rglob("*.*")
        for pattern in (paths, addresses)
        for match in pattern.finditer(path.read_bytes())
    }
    assert found == set()


def test_every_provider_has_the_basic_scenarios() -> None:
    """The fixtures cover, for each of the five, the conversations all of them can have."""
    basic = {"text_only", "single_tool", "bash_tool", "interleaved", "tool_error", "unicode", "api_error"}
    for provider in ("claude", "codex", "gemini", "opencode", "openai_compatible"):
        names = {path.name.removesuffix(".meta.json") for path in METAS if path.parent.name == provider}
        assert basic <= names, provider
