"""The display-event requirements, one by one: FR-001 to FR-012, NFR-001 to NFR-005, SC-001 to SC-005, the scenarios of
US1 to US5 and the seven edge cases.

Details are tested beside each part; here each requirement is named and shown whole, through the command a person runs.
The CLIs are stand-ins that replay a recording; `make live` runs the real ones.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest

from sightline.events import KINDS, Text, ToolUse, Unknown, decode_event
from sightline.providers import DisplayEventSource, EventStream, get_provider, preview, provider_names
from sightline.testing.standin import StandIn
from sightline.text import clean_text
from sightline.views.plain import VERBOSE, WORDS, PlainRenderer
from tests.providers.support import CAPTURES, all_strings, capture_names, load_capture

ROOT = Path(__file__).parent.parent.parent
SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
CLIS = ["claude", "codex", "gemini", "opencode"]
PROVIDERS = [*CLIS, "openai_compatible"]


def sightline(*arguments, env=None, stdin=b""):
    done = subprocess.run(
        [SIGHTLINE, *map(str, arguments)], input=stdin, capture_output=True, env={**os.environ, **(env or {})}
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def recording(provider: str, name: str) -> bytes:
    if provider != "openai_compatible":
        return load_capture(provider, name)[0]
    turns = sorted((CAPTURES / provider).glob(f"{name}.turn*.sse"))
    return b"\n".join(turn.read_bytes() for turn in turns)


def events_of(provider: str, data: bytes) -> list:
    stream = EventStream(get_provider(provider).source())
    return stream.feed(data) + stream.end()


def on_wire(provider: str, name: str, kind: str) -> list[dict]:
    """What the model said and called that reached the wire, from the recording's meta file."""
    meta = json.loads((CAPTURES / provider / f"{name}.meta.json").read_bytes())
    return [b for b in meta["expected"] if b["type"] == kind and b.get("on_wire", True) and b["agent"] == "main"]


@pytest.fixture
def replaying(tmp_path):
    """Puts a CLI on the path that reads its prompt and writes a recording; returns the environment for it."""

    def put(provider: str, name: str, exit_code: int = 0) -> dict[str, str]:
        binary = tmp_path / "bin" / get_provider(provider).command.binary
        binary.parent.mkdir(exist_ok=True)
        (tmp_path / f"{provider}.out").write_bytes(load_capture(provider, name)[0])
        binary.write_text(
            textwrap.dedent(f"""\
            #!{sys.executable}
            import sys
            sys.stdin.read()
            sys.stdout.buffer.write(open({str(tmp_path / f"{provider}.out")!r}, "rb").read())
            sys.exit({exit_code})
            """)
        )
        binary.chmod(0o755)
        return {"PATH": f"{binary.parent}:{os.environ['PATH']}", "SIGHTLINE_HOME": str(tmp_path / "home")}

    return put


SCRIPT = [
    [{"text": "I'll read the README first."}, {"tool": "read_file", "args": {"path": "README.md"}}],
]
TOOLS = json.dumps({"read_file": {"description": "read", "parameters": {"type": "object", "properties": {}}}})


# Functional requirements


def test_fr_001_a_source_is_an_interface_with_parse_events():
    """FR-001: one method, from a line of bytes to a list of events."""
    signature = inspect.signature(DisplayEventSource.parse_events)
    assert list(signature.parameters) == ["self", "line"]
    assert signature.parameters["line"].annotation is bytes


def test_fr_002_events_are_told_apart_by_kind():
    """FR-002: a discriminated type with at least text and tool use."""
    assert {"text", "tool_use"} <= KINDS.keys()
    assert json.loads(msgspec.json.encode(Text("x")))["kind"] == "text"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_fr_003_every_provider_has_a_source(provider):
    """FR-003: four CLIs and the translator, all through the same interface."""
    source = get_provider(provider).source()
    assert isinstance(source.parse_events(b"not json"), list)


@pytest.mark.parametrize("provider", CLIS)
def test_fr_004_each_line_goes_through_the_source_to_one_renderer(provider, replaying):
    """FR-004: what `-p` prints is what the one renderer makes of the source's events."""
    env = replaying(provider, "interleaved")
    done = sightline("-p", "x", "--provider", provider, "-v", env=env)
    renderer = PlainRenderer(VERBOSE)
    expected = renderer.render(events_of(provider, recording(provider, "interleaved"))) + renderer.end()
    assert done.stdout.decode() == expected
    assert done.returncode == 0


def test_fr_004_a_response_goes_through_the_same_renderer():
    """FR-004: the post-response path too."""
    with StandIn.in_thread(SCRIPT) as server:
        env = {"SIGHTLINE_OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "k"}
        arguments = ("-p", "x", "--provider", "openai_compatible", "--model", "m", "--option", f"tools={TOOLS}")
        done = sightline(*arguments, "-v", env=env)
    assert done.stdout.decode() == "I'll read the README first.\n● Read README.md\n"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_fr_005_two_modes(provider):
    """FR-005: words only, and words with markers interleaved in source order."""
    events = events_of(provider, recording(provider, "interleaved"))
    words, verbose = (PlainRenderer(d).render(events) for d in (WORDS, VERBOSE))
    assert "●" not in words
    assert verbose.count("● ") == 3
    assert [line for line in verbose.splitlines() if not line.startswith("●")] == words.splitlines()


@pytest.mark.parametrize("provider", CLIS)
@pytest.mark.parametrize("verbose", [[], ["-v"]])
def test_fr_006_json_is_raw_passthrough(provider, verbose, replaying):
    """FR-006, US2 scenario 2, edge case: every byte untouched, verbose or not, unreadable lines included."""
    env = replaying(provider, "unicode")
    done = sightline("-p", "x", "--provider", provider, "--output-format", "json", *verbose, env=env)
    assert done.stdout == recording(provider, "unicode")


def test_fr_006_json_never_parses(replaying, monkeypatch, tmp_path):
    """FR-006: with `json` no source is even made: one that explodes is never noticed."""
    explode = "import sightline.providers.claude as c\nc.ClaudeSource.__init__ = None\n"
    (tmp_path / "sitecustomize.py").write_text(explode)
    env = {**replaying("claude", "text_only"), "PYTHONPATH": str(tmp_path)}
    done = sightline("-p", "x", "--provider", "claude", "--output-format", "json", env=env)
    assert done.stdout == recording("claude", "text_only")
    assert b"bug" in sightline("-p", "x", "--provider", "claude", env=env).stderr


@pytest.mark.parametrize("provider", CLIS)
def test_fr_007_the_aggregate_is_the_joined_text(provider, replaying, tmp_path):
    """FR-007: the run's text is the concatenation of the root agent's text payloads, in order."""
    env = replaying(provider, "interleaved")
    lines = sightline("-p", "x", "--provider", provider, "--output-format", "events", env=env).stdout.splitlines()
    texts = [event.text for event in map(decode_event, lines) if isinstance(event, Text) and not event.agent]
    assert "".join(texts) == "".join(clean_text(b["text"]) for b in on_wire(provider, "interleaved", "text"))


ANSI = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize("provider", CLIS)
def test_fr_008_fields_are_plain_strings(provider):
    """FR-008, US4 scenario 1: no escape sequence, colour code or renderer's glyph in any field of any recording."""
    for name in capture_names(provider):
        for event in events_of(provider, recording(provider, name)):
            for text in all_strings(event):
                assert not ANSI.search(text)
                assert not text.startswith(("● ", "◆ "))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_fr_009_a_call_has_a_name_and_a_short_argument(provider):
    """FR-009: a name, at most 40 code points of argument, and the provider's id where it has one."""
    calls = [e for e in events_of(provider, recording(provider, "long_arg")) if isinstance(e, ToolUse)]
    assert [(call.name, call.arg, bool(call.native_id)) for call in calls] == [("Bash", "set -e", True)]


def test_fr_010_blocks_of_one_line_keep_their_order():
    """FR-010, US1 scenario 2 and an edge case: four interleaved blocks of one Claude line."""
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "x"}},
        {"type": "text", "text": "b"},
        {"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "ls"}},
    ]
    line = msgspec.json.encode({"type": "assistant", "session_id": "s", "message": {"id": "m", "content": blocks}})
    shape = [getattr(e, "text", None) or e.arg for e in events_of("claude", line)]
    assert shape == ["a", "x", "b", "ls"]


def test_fr_011_a_provider_without_a_source_passes_its_lines_through(tmp_path):
    """FR-011, edge case: no source, no events, no error: the lines as they are."""
    done = _with_sixth_provider(tmp_path, "source=None", ["-p", "hello", "--provider", "parrot"])
    assert (done.returncode, done.stdout) == (0, b"squawk\nhello\n")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_fr_012_sources_are_checked_against_live_recordings(provider):
    """FR-012: the fixtures were recorded live, and say from which version and how."""
    names = capture_names(provider)
    assert len(names) > 20
    for name in names:
        meta = json.loads((CAPTURES / provider / f"{name}.meta.json").read_bytes())
        assert meta.get("cli_version") or meta.get("server")


# Non-functional requirements


def test_nfr_001_switching_the_provider_keeps_the_categories():
    """NFR-001, SC-001: the same task gives the same kinds of lines whoever does it."""
    shapes = set()
    for provider in PROVIDERS:
        renderer = PlainRenderer(VERBOSE)
        text = renderer.render(events_of(provider, recording(provider, "single_tool"))) + renderer.end()
        shapes.add(tuple(sorted(line[0] == "●" for line in text.splitlines())))
    assert shapes == {(False, False, True)}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nfr_002_default_output_is_what_the_model_said(provider):
    """NFR-002, SC-002, US2 scenarios 1 and 3: byte for byte, minus what the filter removes."""
    for name in ("text_only", "single_tool", "interleaved", "tricky_text", "long_arg", "huge_text"):
        if provider == "openai_compatible" and name not in capture_names(provider):
            continue
        events = events_of(provider, recording(provider, name))
        said = "".join(event.text for event in events if isinstance(event, Text) and not event.agent)
        blocks = on_wire(provider, name, "text")
        if provider == "openai_compatible":  # its meta lists each turn twice: as a body and as a stream
            blocks = list({(b["turn"], b["text"]): b for b in blocks}.values())
        assert said == "".join(clean_text(block["text"]) for block in blocks), name


def test_nfr_003_parsing_cost_is_measured_and_a_miss_is_a_failure(monkeypatch, capsys):
    """NFR-003: `make bench` has a row for every source against json.loads on the same lines; one miss fails it."""
    from bench import __main__ as program
    from bench import parsing

    monkeypatch.setattr(parsing, "_ratio", lambda provider, streams: 0.59)
    monkeypatch.setattr(program, "GROUPS", {"parsing": parsing.rows})
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert program.main() == 1
    rows = [line for line in capsys.readouterr().out.splitlines() if "under 32 KB" in line]
    assert [row.split(", ")[1] for row in rows] == CLIS
    assert [row.split(", ")[1] for row in rows if not row.endswith("MISSED")] == ["codex"]


def test_nfr_004_no_styling_below_the_views():
    """NFR-004, US4: nothing outside views and the terminal engine writes an escape sequence or one of the glyphs."""
    for path in (ROOT / "src/sightline").rglob("*.py"):
        room = path.relative_to(ROOT / "src/sightline").parts[0]
        if room not in ("views", "text", "testing", "tty"):
            assert not re.search(r"\\x1b|\\033|[●◆◌✓✕]", path.read_text()), path


def test_nfr_005_a_sixth_provider_is_one_module_and_one_line(tmp_path):
    """NFR-005: a made-up provider takes part in everything by implementing parse_events alone."""
    done = _with_sixth_provider(tmp_path, "source=ParrotSource", ["-p", "hello", "--provider", "parrot", "-v"])
    assert (done.returncode, done.stdout.decode()) == (0, "squawk\n● Bash hello\n")


PARROT = """\
from sightline.events import Text, ToolUse
from sightline.providers import CommandLine, Provider

class ParrotSource:
    def parse_events(self, line):
        if line == b"squawk":
            return [Text("squawk", 1, source="parrot")]
        return [ToolUse("1", "Bash", "peck", line.decode(), source="parrot")]

PROVIDER = Provider(
    name="parrot", title="Parrot", {source},
    command=CommandLine(binary="parrot", package="parrot", tested="1", arguments=lambda ask: [], approvals={{}}),
)
"""


def _with_sixth_provider(tmp_path, source: str, arguments: list[str]):
    """Runs the real command with one more module and one more registry line."""
    (tmp_path / "parrot_provider.py").write_text(PARROT.format(source=source))
    (tmp_path / "bin").mkdir(exist_ok=True)
    binary = tmp_path / "bin" / "parrot"
    binary.write_text("#!/bin/sh\necho squawk\ncat\necho\n")
    binary.chmod(0o755)
    program = (
        "import sys\n"
        "from sightline.providers import _registry\n"
        "_registry._MODULES['parrot'] = 'parrot_provider'\n"
        "from sightline.cli import main\n"
        "sys.exit(main())\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run([sys.executable, "-c", program, *arguments], input=b"", capture_output=True, env=env)


# Success criteria and scenarios not named above


@pytest.mark.parametrize("provider", PROVIDERS)
def test_sc_001_us1_scenario_1_the_same_marker_for_the_same_tool(provider):
    """SC-001, US1 scenario 1: a file read is a marker in one form, between the words around it."""
    renderer = PlainRenderer(VERBOSE)
    lines = renderer.render(events_of(provider, recording(provider, "single_tool"))).splitlines()
    if provider == "opencode":  # its wire has the order of completion, and the view keeps the wire's order
        lines[:2] = reversed(lines[:2])
    assert lines[0] == "I'll read the README first."
    assert re.fullmatch(r"● (Read|Bash) .*README\.md", lines[1])
    assert lines[2].startswith("The README says")


def test_us1_scenario_3_tool_calls_of_a_response():
    """US1 scenario 3: text and calls of an OpenAI-compatible body, formatted as everybody's."""
    body = (CAPTURES / "openai_compatible" / "single_tool.turn1.json").read_bytes()
    text = PlainRenderer(VERBOSE).render(events_of("openai_compatible", body))
    assert text == "I'll read the README first.\n● Read /project/README.md\n"


@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "Task"])
def test_sc_004_us3_scenario_1_seven_recognisable_markers(name):
    """SC-004, US3 scenario 1: name and argument."""
    assert PlainRenderer(VERBOSE).render([ToolUse("1", name, arg="x" * 40)]) == f"● {name} {'x' * 40}\n"


def test_us3_scenario_2_an_unknown_tool():
    """SC-004, US3 scenario 2: the raw name, nothing malformed."""
    assert PlainRenderer(VERBOSE).render([ToolUse("1", "frobnicate")]) == "● frobnicate\n"


def test_us3_scenario_3_arguments_as_a_json_string():
    """US3 scenario 3: a preview from a known field, not the raw JSON."""
    assert preview('{"cmd": "npm test", "timeout": 10}') == "npm test"
    assert preview('{"file_path": "/project/README.md"}') == "/project/README.md"


def test_sc_005_a_new_kind_changes_no_parser_and_no_output():
    """SC-005: an event of a kind invented here passes through renderer and fold unnoticed."""
    from sightline.events import Envelope
    from sightline.transcript import fold

    class Novelty(Envelope, frozen=True, tag="novelty"):
        what: str = ""

    events = [Text("a", 1), Novelty("x"), Text("b", 1)]
    assert PlainRenderer(WORDS).render(events) == "ab"
    assert PlainRenderer(VERBOSE).render(events) == "ab"
    assert len(fold(events).entries) == 1
    for provider in PROVIDERS:
        parse = type(get_provider(provider).source()).parse_events
        assert list(inspect.signature(parse).parameters) == ["self", "line"]


def test_us4_scenario_2_restyling_touches_only_the_renderer():
    """US4 scenario 2: the same events under another palette; parsers and fixtures know nothing of it."""
    from sightline.views.plain import Palette

    events = events_of("claude", recording("claude", "single_tool"))
    loud = Palette(reset="<r>", bold="<b>", dim="<d>")
    assert "<b>Read<r> /project/README.md" in PlainRenderer(VERBOSE, loud).render(events)


def test_us5_the_cadence_of_every_provider_is_documented():
    """US5 scenarios 1 and 2: one burst is said of one provider, streaming of the other four."""
    reference = (ROOT / "docs/reference/providers.md").read_text().lower()
    sections = {part.partition(":")[0]: part for part in reference.split("\n## ")[1:]}
    for provider in PROVIDERS:
        page = sections[provider]
        assert ("cadence: one burst" in page) == (provider == "openai_compatible")
        assert ("cadence: streaming" in page) == (provider != "openai_compatible")
        assert get_provider(provider).cadence == ("burst" if provider == "openai_compatible" else "streaming")


# Edge cases not named above

NOTHING_TO_SHOW = {
    "claude": b'{"type":"system","subtype":"thinking_tokens","session_id":"s"}',
    "codex": b'{"type":"item.updated","item":{"id":"item_0","type":"reasoning","text":""}}',
    "gemini": b'{"type":"message","role":"assistant","content":"","delta":true}',
    "openai_compatible": b": keepalive",
}


@pytest.mark.parametrize("provider", NOTHING_TO_SHOW)
def test_edge_a_line_with_nothing_to_show(provider):
    """A keepalive or system line: recognised, no event, no output."""
    assert events_of(provider, NOTHING_TO_SHOW[provider] + b"\n") == []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("line", [b'{"type": "assist', b"not json", b"42", b"\xff\xfe\x00", b"[" * 100_000])
def test_edge_a_malformed_line(provider, line):
    """Never an exception, never silence: `unknown` keeps the payload, and the stream goes on."""
    source = get_provider(provider).source()
    stream = EventStream(source)
    after = recording(provider, "text_only")
    events = stream.feed(line + b"\n" + after) + stream.end()
    unknown = [event for event in events if isinstance(event, Unknown)]
    assert [event.length for event in unknown] == [len(line)]
    assert "Hello!" in "".join(event.text for event in events if isinstance(event, Text))


def test_edge_arguments_without_a_known_field():
    """An empty preview; the marker is the name alone."""
    assert preview({"level": 3, "nested": {"path": "no"}}) == ""
    assert PlainRenderer(VERBOSE).render([ToolUse("1", "frobnicate", arg="")]) == "● frobnicate\n"


def test_edge_opencode_step_finish_makes_no_second_call():
    """One tool_use per tool part, whatever lines follow or repeat it."""
    calls = [e for e in events_of("opencode", recording("opencode", "single_tool")) if isinstance(e, ToolUse)]
    assert len(calls) == 1


def test_the_five_providers_are_these():
    """The list this file goes through is the program's own."""
    assert provider_names() == PROVIDERS
