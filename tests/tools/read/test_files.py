"""Text files: every way to ask for lines, every limit, every thing a file can be instead of text."""

import os
import re
import socket
import stat
from pathlib import Path

import pytest

from sightline.tools import Need, Outcome, ToolContext, ToolError
from sightline.tools.files import _regular
from sightline.tools.hashline import Snapshots
from sightline.tools.hashline._snapshots import line_digest
from sightline.tools.read import ReadTool, _files
from tests.tools.support import make_context, run


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


def write(context: ToolContext, name: str, content: str | bytes) -> Path:
    path = context.cwd / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def numbers(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


async def read(context: ToolContext, path: str) -> Outcome:
    return await run(ReadTool(), context, path=path)


def shown(outcome: Outcome) -> list[int]:
    """The numbers of the lines a model was shown."""
    return [int(found) for found in re.findall(r"^(\d+):line", outcome.text, re.MULTILINE)]


@pytest.fixture(params=["whole", "streamed"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small files are read whole, big ones in pieces; what is shown is the same."""
    if request.param == "streamed":
        monkeypatch.setattr(_files, "WHOLE", 0)
        monkeypatch.setattr(_files, "PIECE", 7)
    return str(request.param)


LINES = [
    pytest.param("", range(1, 21), id="read.md/Selector grammar/none"),
    pytest.param(":10", range(9, 21), id="read.md/Selector grammar/:N"),
    pytest.param(":L10", range(9, 21), id="read.md/Selector grammar/:LN"),
    pytest.param(":10-", range(9, 21), id="read.md/Selector grammar/:N-"),
    pytest.param(":1", range(1, 21), id="read.md/Selector grammar/:1"),
    pytest.param(":5-8", range(4, 12), id="read.md/Selector grammar/:A-B and 1 line before, 3 after"),
    pytest.param(":L5-L8", range(4, 12), id="read.md/Selector grammar/:LA-LB"),
    pytest.param(":5+4", range(4, 12), id="read.md/Selector grammar/:A+C"),
    pytest.param(":L5+L4", range(4, 12), id="read.md/Selector grammar/:LA+LC"),
    pytest.param(":1-2", range(1, 6), id="read.md/Limits & Caps/no line before the first"),
    pytest.param(":18-99", range(17, 21), id="read.md/Limits & Caps/no line after the last"),
    pytest.param(":2-3,12-13", [*range(1, 7), *range(11, 17)], id="read.md/Selector grammar/:R1,R2"),
    pytest.param(":12-13,2-3", [*range(1, 7), *range(11, 17)], id="read.md/Selector grammar/:R1,R2 sorted"),
    pytest.param(":2-3,6-7", range(1, 11), id="read.md/Selector grammar/:R1,R2 merged with the lines between"),
    pytest.param(":2-3,19-", [*range(1, 7), *range(18, 21)], id="read.md/Selector grammar/:R1,R2 open"),
]


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(("selector", "lines"), LINES)
async def test_the_lines_asked_for_are_shown(context: ToolContext, selector: str, lines: list[int]) -> None:
    """Each selector form, with the context it gets."""
    write(context, "a.txt", numbers(20))
    outcome = await read(context, f"a.txt{selector}")
    assert shown(outcome) == list(lines)
    assert outcome.details["ui"]["kind"] == "read"


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(
    ("selector", "text"),
    [
        pytest.param(":raw", "line 1\r\nline 2\r\nline 3\r\nline 4\r", id="read.md/Selector grammar/:raw"),
        pytest.param(":2-3:raw", "line 2\r\nline 3\r", id="read.md/Selector grammar/:range:raw"),
        pytest.param(":raw:2-3", "line 2\r\nline 3\r", id="read.md/Selector grammar/:raw:range"),
        pytest.param(":1-1,3-3:raw", "line 1\r\n...\nline 3\r", id="read.md/Selector grammar/:R1,R2:raw"),
    ],
)
async def test_raw_is_the_text_and_nothing_else(context: ToolContext, selector: str, text: str) -> None:
    """No header, no numbers, no lines around a range, line ends kept."""
    write(context, "a.txt", "line 1\r\nline 2\r\nline 3\r\nline 4\r\n")
    assert (await read(context, f"a.txt{selector}")).text == text


async def test_a_file_is_shown_under_its_tag(context: ToolContext) -> None:
    """read.md/Local text files: a header and LINE:TEXT, which the edit tool takes."""
    path = write(context, "src/a.py", "x = 1\ny = 2\n")
    tag = Snapshots().record(path, "x = 1\ny = 2\n")
    assert (await read(context, "src/a.py")).text == f"¶src/a.py#{tag}\n1:x = 1\n2:y = 2"


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        pytest.param({"hash_lines": False}, "1:x", id="read.md/Local text files/plain line numbers"),
        pytest.param({"hash_lines": False, "line_numbers": False}, "x", id="read.md/Local text files/no numbers"),
    ],
)
async def test_settings_choose_how_lines_are_shown(tmp_path: Path, settings: dict[str, bool], first: str) -> None:
    """Without hash lines there is no header; without numbers there is only the text."""
    context = make_context(tmp_path, read=settings)
    write(context, "a", "x\ny\n")
    assert (await read(context, "a")).text.split("\n")[0] == first


async def test_part_of_a_big_file_has_a_tag_for_the_lines_shown(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """read.md/Flow 10: what was shown is remembered, so that those lines can be edited."""
    monkeypatch.setattr(_files, "WHOLE", 0)
    path = write(context, "a.txt", numbers(100))
    outcome = await read(context, "a.txt:50-51")
    tag = re.match(r"¶a.txt#([0-9A-F]{4})\n", outcome.text)
    assert tag is not None
    version = context.shared(Snapshots).find(path, tag[1])
    assert version is not None
    assert version.part == {number: line_digest(f"line {number}") for number in range(49, 55)}


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(
    ("selector", "lines", "then"),
    [
        pytest.param("", range(1, 6), 6, id="read.md/Limits & Caps/default limit"),
        pytest.param(":3", range(2, 8), 8, id="read.md/Limits & Caps/default limit after a start"),
    ],
)
async def test_an_open_read_stops_at_the_default_limit(tmp_path: Path, selector: str, lines: range, then: int) -> None:
    """It says what is shown, of how much, and how to go on."""
    context = make_context(tmp_path, read={"default_limit": 5})
    write(context, "a.txt", numbers(20))
    outcome = await read(context, f"a.txt{selector}")
    assert shown(outcome) == list(lines)
    assert outcome.text.endswith(
        f"[Showing lines {lines[0]}-{lines[-1]} of 20 (151 B in all). Use :{then} to continue]"
    )
    truncation = outcome.details["meta"]["truncation"]
    assert truncation == outcome.details["truncation"]
    assert truncation["shown_ranges"] == [[lines[0], lines[-1]]]
    assert (truncation["total_lines"], truncation["total_bytes"], truncation["next_offset"]) == (20, 151, then)


async def test_no_read_shows_more_than_three_thousand_lines(tmp_path: Path) -> None:
    """read.md/Limits & Caps: whatever the setting or the range says."""
    context = make_context(tmp_path, read={"default_limit": 10_000})
    write(context, "a.txt", numbers(4000))
    for selector in ("", ":1-4000"):
        outcome = await read(context, f"a.txt{selector}")
        assert shown(outcome) == list(range(1, 3001))
        assert "Use :3001 to continue" in outcome.text


@pytest.mark.usefixtures("size")
async def test_bytes_are_limited_too(context: ToolContext) -> None:
    """read.md/Limits & Caps: 50 KiB, or 512 bytes for each line that may be shown; 128 KiB in any case."""
    write(context, "a.txt", ("line" + "x" * 995 + "\n") * 400)
    explicit = await read(context, "a.txt:1-60")
    assert shown(explicit) == list(range(1, 52))
    assert "as much as one read shows" in explicit.text
    assert "Use :52 to continue" in explicit.text
    assert len(shown(await read(context, "a.txt"))) == 128 * 1024 // 1004


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(
    ("selector", "kept"),
    [
        pytest.param(":2-2", 16 * 1024, id="read.md/Limits & Caps/a line too long"),
        pytest.param(":2-2:raw", 50 * 1024, id="read.md/Limits & Caps/a line too long, raw"),
    ],
)
async def test_a_line_that_is_too_long_is_cut_and_said_so(context: ToolContext, selector: str, kept: int) -> None:
    """Never in the middle of a character; the lines around it are still there."""
    write(context, "a.txt", "line 1\n" + "é" * 100_000 + "\nline 3\n")
    outcome = await read(context, f"a.txt{selector}")
    assert outcome.text.count("é") == kept // 2
    assert "[Line 2 has 195.3 KB, of which the first" in outcome.text
    assert shown(outcome) == ([] if "raw" in selector else [1, 3])


async def test_a_line_shown_in_part_is_no_base_for_an_edit(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rest is not known, so it is not remembered."""
    monkeypatch.setattr(_files, "WHOLE", 0)
    path = write(context, "a.txt", "line 1\n" + "x" * 100_000 + "\nline 3\n")
    tag = (await read(context, "a.txt")).text.split("\n")[0].rpartition("#")[2]
    version = context.shared(Snapshots).find(path, tag)
    assert version is not None
    assert version.part == {number: line_digest(f"line {number}") for number in (1, 3)}


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(
    ("content", "selector", "words"),
    [
        pytest.param(
            numbers(3), ":4", "Line 4 is beyond the end of the file (3 lines). Use :1", id="read.md/Errors/:N"
        ),
        pytest.param(numbers(3), ":9-12", "or :3 to read the last line", id="read.md/Errors/:A-B"),
        pytest.param(numbers(1), ":2", "(1 line)", id="read.md/Errors/one line"),
        pytest.param("x", ":2", "(1 line)", id="read.md/Errors/no newline at the end"),
        pytest.param(
            numbers(3), ":2-2,9-12", "[Line 9 is beyond the end of the file (3 lines)]", id="read.md/Errors/one of"
        ),
    ],
)
async def test_lines_beyond_the_end_are_explained(
    context: ToolContext, content: str, selector: str, words: str
) -> None:
    """read.md/Errors: no failure, but what there is and what to use."""
    write(context, "a.txt", content)
    outcome = await read(context, f"a.txt{selector}")
    assert words in outcome.text
    assert not outcome.is_error


async def test_an_empty_file_is_said_to_be_empty(context: ToolContext) -> None:
    """With a tag, so that it can be edited; a line of it does not exist."""
    path = write(context, "a.txt", "")
    tag = Snapshots().record(path, "")
    assert (await read(context, "a.txt")).text == f"¶a.txt#{tag}\n[The file is empty]"
    assert "is empty. Use :1" in (await read(context, "a.txt:5")).text


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        pytest.param("a\r\nb\r\n", ["1:a", "2:b"], id="CRLF"),
        pytest.param("\ufeffa\nb", ["1:a", "2:b"], id="BOM, no newline at the end"),
        pytest.param("a\n\n", ["1:a", "2:"], id="an empty last line"),
        pytest.param("a\rb\x0cc\u2028d\n", ["1:a\rb\x0cc\u2028d"], id="only a newline ends a line"),
    ],
)
async def test_lines_are_counted_as_the_edit_tool_counts_them(
    context: ToolContext, size: str, content: str, lines: list[str]
) -> None:
    """No byte order mark, no carriage return before a newline, no line after the last newline."""
    write(context, "a.txt", content)
    assert (await read(context, "a.txt")).text.split("\n")[1:] == lines


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"line 1\n\xff\xfe caf\xe9\nline 3\n", id="Latin-1"),
        pytest.param(b"line 1\nhalf \xf0\x9f\x98", id="half a character at the end"),
    ],
)
async def test_what_is_not_utf8_is_shown_without_a_tag(context: ToolContext, content: bytes) -> None:
    """An edit would write replacement characters into the file."""
    write(context, "a.txt", content)
    outcome = await read(context, "a.txt")
    assert outcome.text.startswith("1:line 1\n2:")
    assert "\ufffd" in outcome.text
    assert "Not valid UTF-8" in outcome.text


async def test_utf16_text_is_decoded(context: ToolContext) -> None:
    """A byte order mark says what it is; it cannot be edited."""
    write(context, "a.txt", "grüße\nzwei\n".encode("utf-16"))
    assert (await read(context, "a.txt")).text.startswith("1:grüße\n2:zwei\n\n[UTF-16 text")


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("selector", ["", ":raw", ":1-5"])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x7fELF\x02\x01\x01" + b"\0" * 100, id="zero bytes"),
        pytest.param(bytes(range(128, 256)) * 4, id="mostly undecodable"),
        pytest.param(bytes(range(1, 9)) * 40, id="mostly control characters"),
        pytest.param(b"text\n" * 20_000 + b"\0\0", id="zero bytes later"),
    ],
)
async def test_a_binary_file_is_told_of_never_dumped(context: ToolContext, content: bytes, selector: str) -> None:
    """Its size and what to do; raw makes no difference."""
    write(context, "a.bin", content)
    outcome = await read(context, f"a.bin{selector}")
    if content.startswith(b"text") and _files.WHOLE == 0:
        assert "text" in outcome.text  # of a big file only what is shown is looked at
    else:
        assert re.fullmatch(r"\[Cannot read binary file 'a.bin' \([\d.]+ K?B\): use a command.*\]", outcome.text)


async def test_a_pipe_a_socket_and_a_device_are_refused_at_once(context: ToolContext) -> None:
    """Reading one could wait for ever."""
    os.mkfifo(context.cwd / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(context.cwd)  # the name of a socket has to be short
    try:
        listener.bind("sock")
    finally:
        os.chdir(here)
    for name, kind in [("pipe", "a named pipe"), ("sock", "a socket"), ("/dev/zero", "a device")]:
        with pytest.raises(ToolError, match=kind):
            await read(context, name)
    listener.close()


async def test_a_pipe_named_like_an_archive_document_or_notebook_is_refused(context: ToolContext) -> None:
    """The name does not get it opened by something else."""
    for name in ("a.zip", "a.db", "a.pdf", "a.ipynb", "a.png"):
        os.mkfifo(context.cwd / name)
        with pytest.raises(ToolError, match="a named pipe"):
            await read(context, name)
    with pytest.raises(ToolError, match="a named pipe"):
        await read(context, "a.png:conflicts")


async def test_a_file_without_permission_is_named(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be opened is told with its reason."""
    write(context, "a.txt", "secret")

    def refuse(*args: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # whoever runs the tests may be allowed everything
    with pytest.raises(ToolError, match="No permission"):
        await read(context, "a.txt")


def test_what_goes_wrong_with_a_file_is_said_in_words(tmp_path: Path) -> None:
    """Each kind of failure has its own sentence."""
    for error, words in [
        (PermissionError(13, "Permission denied"), "No permission"),
        (FileNotFoundError(2, "No such file"), "not found"),
        (BlockingIOError(11, "Again"), "wait forever"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ]:
        assert words in _regular._problem(error, tmp_path)


async def test_a_file_of_the_system_says_more_than_its_size(context: ToolContext) -> None:
    """/proc files claim to be empty."""
    assert (await read(context, "/proc/self/status:1-1:raw")).text.startswith("Name:")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("", "empty", id="read.md/Errors/no path"),
        pytest.param("   ", "empty", id="read.md/Errors/blank path"),
        pytest.param("nowhere.txt", "not found", id="read.md/Errors/missing file"),
        pytest.param("nowhere.zip:a", "not found", id="read.md/Errors/missing archive"),
        pytest.param("nowhere.db:t", "not found", id="read.md/Errors/missing database"),
        pytest.param("a.txt:0", "1-indexed", id="read.md/Errors/:0"),
        pytest.param("a.txt:5-2", "ends before it starts", id="read.md/Errors/:B-A"),
        pytest.param("a.txt:5+0", "at least 1", id="read.md/Errors/:A+0"),
        pytest.param("a.txt/b", "not found", id="read.md/Errors/below a file"),
        pytest.param("x" * 5000, "not found", id="read.md/Errors/a name too long"),
        pytest.param("dangling", "link to nothing", id="read.md/Errors/a link to nothing"),
        pytest.param("loop", "symlink loop", id="read.md/Errors/a link to itself"),
        pytest.param("a.txt\0", "NUL", id="read.md/Errors/NUL"),
    ],
)
async def test_what_cannot_be_read_is_an_error_that_says_why(context: ToolContext, path: str, words: str) -> None:
    """One ToolError, never anything else."""
    write(context, "a.txt", "x")
    (context.cwd / "dangling").symlink_to("gone")
    (context.cwd / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match=words):
        await read(context, path)


async def test_a_name_that_ends_like_a_selector_is_a_name_when_it_exists(context: ToolContext) -> None:
    """`a:5` is line 5 of `a` where there is an `a`, and a file of that name otherwise."""
    write(context, "b:5", "line of b:5\n")
    write(context, "c:0", "line of c:0\n")
    assert "line of b:5" in (await read(context, "b:5")).text
    assert "line of c:0" in (await read(context, "c:0")).text
    write(context, "b", numbers(9))
    assert shown(await read(context, "b:5")) == [4, 5, 6, 7, 8, 9]


async def test_the_ways_to_write_a_path_lead_to_the_same_file(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """read.md/Flow 1 and 6: ~, file://, quotes, absolute."""
    path = write(context, "a b.txt", "line 1\n")
    monkeypatch.setenv("HOME", str(context.cwd))
    for written in ("a b.txt", "./a b.txt", str(path), "~/a b.txt", f"file://{context.cwd}/a%20b.txt", '"a b.txt"'):
        assert shown(await read(context, written)) == [1], written
        assert shown(await read(context, f"{written}:1-1".replace('"', ""))) == [1], written


async def test_a_missing_path_is_found_by_its_end(context: ToolContext) -> None:
    """read.md/Flow 11, Outputs: the only one of the workspace that ends like it; said first, and in details."""
    write(context, "deep/down/x.txt", "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n")
    outcome = await read(context, "down/x.txt:6")
    assert outcome.text.startswith(
        "[Path 'down/x.txt' not found; resolved to 'deep/down/x.txt' via suffix match]\n¶deep"
    )
    assert shown(outcome) == [5, 6]
    assert outcome.details["suffix_resolution"] == {"from": "down/x.txt", "to": "deep/down/x.txt"}
    assert outcome.details["resolved_path"] == str(context.cwd / "deep/down/x.txt")
    write(context, "other/down/x.txt", "")
    with pytest.raises(ToolError, match="not found"):
        await read(context, "down/x.txt")


async def test_a_path_found_by_its_end_never_leads_out_of_the_workspace(context: ToolContext, tmp_path: Path) -> None:
    """What a call needs was decided before the search."""
    (tmp_path / "secret.txt").write_text("secret")
    (context.cwd / "deep").mkdir()
    (context.cwd / "deep" / "x.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ToolError, match="not found"):
        await read(context, "x.txt")


def test_what_a_read_needs(context: ToolContext, tmp_path: Path) -> None:
    """Where a path really leads, also through links and containers: what is outside the workspace is seen to be."""
    outside = tmp_path / "out.zip"
    outside.write_bytes(b"PK\5\6" + b"\0" * 18)
    write(context, "a.txt", "x")
    (context.cwd / "link.txt").symlink_to(tmp_path / "secret")
    (context.cwd / "link.zip").symlink_to(outside)
    tool = ReadTool()

    def needs(path: str) -> list[Need]:
        return tool.needs(tool.params(path=path), context)

    for path, what in (("a.txt", "a.txt"), ("a.txt:1-2", "a.txt"), ("missing", "missing"), ("/", ""), (".", "")):
        assert [(need.access, need.what) for need in needs(path)] == [("read", os.path.realpath(context.cwd / what))]
    for path, what in [
        ("/etc/passwd:1", "/etc/passwd"),
        ("../x", str(tmp_path / "x")),
        ("link.txt", str(tmp_path / "secret")),
        ("link.zip:a/b", str(outside)),
        (f"{outside}:a:1-2", str(outside)),
    ]:
        assert [(need.access, need.what) for need in needs(path)] == [("read", os.path.realpath(what))]


async def test_details_are_small_and_say_where_it_came_from(context: ToolContext) -> None:
    """read.md/Outputs: source, resolved path, the text for views."""
    path = write(context, "a.txt", ("x" * 200 + "\n") * 300)
    details = (await read(context, "a.txt")).details
    assert details["resolved_path"] == str(path)
    assert details["meta"]["source"] == {"type": "path", "value": str(path)}
    assert details["display_content"]["start_line"] == 1
    assert len(details["display_content"]["text"]) <= 48 * 1024
    assert details["ui"] == {"kind": "read", "path": "a.txt", "first": 1, "last": 300, "total": 300}


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_was_read_can_be_edited(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch, *, streamed: bool
) -> None:
    """read.md/Flow 10: the header and the numbers are all an edit needs, of a whole file and of a part of one."""
    from sightline.tools.edit import EditTool

    if streamed:
        monkeypatch.setattr(_files, "WHOLE", 0)
    path = write(context, "a.txt", numbers(100).replace("\n", "\r\n"))
    header = (await read(context, "a.txt:50-51")).text.split("\n")[0]
    await run(EditTool(), context, input=f"{header}\nreplace 50:\n+changed\n")
    assert path.read_bytes() == numbers(100).replace("line 50", "changed").replace("\n", "\r\n").encode()


def test_the_file_mode_table_covers_what_stat_knows() -> None:
    """A folder is told apart from a special file."""
    with pytest.raises(ToolError, match="directory"):
        _regular._check_kind(stat.S_IFDIR, Path("x"))
    with pytest.raises(ToolError, match="a device"):
        _regular._check_kind(stat.S_IFBLK, Path("x"))
