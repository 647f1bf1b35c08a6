"""What holds for every source and every input: no exception, no control character in a field, no dependence on how the
bytes were cut. Inputs are arbitrary bytes, and real lines with parts replaced by hostile ones; `test_wild_lines`
makes up whole lines.
"""

import copy
import itertools
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.events import Unknown
from sightline.providers import LINE_CAP, EventStream, get_provider
from tests.providers.support import CAPTURES, assert_clean, capture_names, load_capture

PROVIDERS = ["claude", "codex", "gemini", "opencode", "openai_compatible"]
HOSTILE = [
    "", "\x1b[31m", "\x1b]0;t\x07", "a\r\nb", "\x00", "\x9b1m", "\u202e", "\ud83d", "\ude00x", "\x1b[3", "tab\there\n",
    "x" * 300, "日本語", "\u2028", 0, -1, 1.5, 10**30, True, None, [], {}, [None], {"type": "text"}, {"\x1b[1m": "\r"},
]  # fmt: skip


def lines_of(provider: str) -> list[bytes]:
    if provider == "openai_compatible":
        files = sorted((CAPTURES / provider).glob("*.turn*"))
        return [line for file in files for line in file.read_bytes().split(b"\n") if line]
    names = capture_names(provider)
    return [line for name in names for line in load_capture(provider, name)[0].split(b"\n") if line]


LINES = {provider: [line for line in lines_of(provider) if len(line) < 10_000] for provider in PROVIDERS}


def mutated(line: bytes, chance: random.Random) -> bytes:
    """The line with some of its values replaced, removed or swapped."""
    prefix = b"data: " if line.startswith(b"data: ") else b""
    try:
        value = json.loads(line.removeprefix(prefix))
    except ValueError:
        return line[: chance.randrange(len(line) + 1)]
    for _ in range(chance.randint(1, 4)):
        value = _replaced(value, chance)
    return prefix + json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def _replaced(value, chance: random.Random):
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            del value[key]
        else:
            value[key] = _replaced(value[key], chance)
        return value
    if isinstance(value, list) and value and chance.random() < 0.9:
        index = chance.randrange(len(value))
        value[index] = _replaced(value[index], chance)
        return value
    hostile = copy.deepcopy(chance.choice(HOSTILE))
    return value + hostile if isinstance(value, str) and isinstance(hostile, str) and chance.random() < 0.5 else hostile


def run(provider: str, data: bytes, cuts=()) -> list:
    stream = EventStream(get_provider(provider).source())
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    events = [e for a, b in itertools.pairwise(bounds) for e in stream.feed(data[a:b])]
    return events + stream.end()


thorough = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=4))
@thorough
def test_arbitrary_bytes(provider, data, cuts):
    """Never an exception, never a control character, never another result for another cut."""
    events = run(provider, data, cuts)
    for event in events:
        assert_clean(event)
    assert events == run(provider, data)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(seed=st.integers(0, 2**32))
@thorough
def test_real_lines_with_hostile_parts(provider, seed):
    """A stretch of a real stream with values replaced: whatever a new version or an attacker sends."""
    chance = random.Random(seed)
    lines = LINES[provider]
    start = chance.randrange(len(lines))
    data = b"\n".join(mutated(line, chance) if chance.random() < 0.5 else line for line in lines[start : start + 12])
    events = run(provider, data)
    for event in events:
        assert_clean(event)
    assert run(provider, data, [chance.randrange(len(data) + 1) for _ in range(5)]) == events


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("cut", range(6))
def test_a_byte_order_mark_is_no_part_of_the_first_line(provider, cut):
    """A file saved with one reads as one saved without, however it is cut."""
    data = b"\n".join(LINES[provider][:3]) + b"\n"
    assert run(provider, b"\xef\xbb\xbf" + data, [cut]) == run(provider, data)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_blank_lines_are_nobodys(provider):
    """Whatever blanks they hold, and wherever they are cut."""
    data = b"{}\n  \n\r\n\t\n{}\n"
    assert run(provider, data, range(len(data))) == run(provider, data)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_line_over_the_cap_is_announced_and_not_kept(provider):
    """Over 16 MB: `unknown` with its length and its beginning; the stream goes on."""
    stream = EventStream(get_provider(provider).source())
    events = []
    for _ in range(17):
        events += stream.feed(b"x" * 1024 * 1024)
        assert sum(map(len, stream._parts)) <= LINE_CAP + 1024 * 1024
    events += stream.feed(b"\n" + LINES[provider][0] + b"\n")
    assert isinstance(events[0], Unknown)
    assert (events[0].length, len(events[0].raw)) == (17 * 1024 * 1024, 64 * 1024)
    direct = get_provider(provider).source().parse_events(b"x" * (LINE_CAP + 1))
    assert [type(event) for event in direct] == [Unknown]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_unreadable_lines_keep_their_evidence(provider):
    """NUL bytes, invalid UTF-8, truncated JSON: made printable, never silent."""
    stream = EventStream(get_provider(provider).source())
    events = stream.feed(b'\x00\x01\n{"type": "assist\n\xff\xfe\xfd\n') + stream.end()
    raw = [event.raw for event in events if isinstance(event, Unknown)]
    assert raw[0] == "\\x00\\x01"
    # A response body may stand over many lines, so half an object is half a body, and what follows belongs to it.
    assert len(raw) == (2 if provider == "openai_compatible" else 3)
    assert "".join(raw).endswith("\\xff\\xfe\\xfd")
