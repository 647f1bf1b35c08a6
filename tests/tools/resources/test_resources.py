"""Internal addresses: what is behind them, for read, write, search and find."""

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.tools import Outcome, ToolContext, ToolError, Workplace
from sightline.tools.conflicts import Conflicts
from sightline.tools.edit import EditTool
from sightline.tools.find import FindTool
from sightline.tools.read import ReadTool
from sightline.tools.resources import is_internal, resolve, write
from sightline.tools.search import SearchTool
from sightline.tools.write import WriteTool
from tests.tools.support import make_context, run

NAMED = "agent artifact conflict history issue local mcp memory omp pr rule skill vault".split()  # noqa: SIM905
MISSING = [name for name in NAMED if name not in ("agent", "artifact", "conflict", "history", "local", "skill")]


class Told:
    """Conversations by session; an empty name is one's own."""

    def file(self, session: str) -> Path | None:
        return Path("/sessions") / session / "journal.jsonl" if session else None

    def read(self, session: str) -> str | None:
        return {"": "## user\n\nmine", "bbbbbb": "## user\n\nanother"}.get(session)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    made = make_context(tmp_path)
    place = made.workplace
    told = Workplace(place.cwd, settings=place.settings, artifacts=place.artifacts, local=place.local, history=Told())
    return ToolContext("aaaaaa-1", told)


async def read(context: ToolContext, path: str) -> Outcome:
    return await run(ReadTool(), context, path=path)


@pytest.mark.parametrize("scheme", [pytest.param(name, id=f"read.md/Internal URLs/{name}://") for name in NAMED])
def test_every_named_scheme_is_known(scheme: str) -> None:
    """In any case; others are not."""
    assert is_internal(f"{scheme}://x")
    assert is_internal(f"{scheme.upper()}://x")
    assert not is_internal(f"{scheme}x://x")
    assert not is_internal(f"{scheme}:x")


@pytest.mark.parametrize(
    "url", [pytest.param(f"{name}://x", id=f"read.md/Internal URLs/{name}:// is missing") for name in MISSING]
)
async def test_what_is_missing_is_named(context: ToolContext, url: str) -> None:
    """For reading and for writing."""
    scheme = url.partition("x")[0]
    with pytest.raises(ToolError, match=f"{scheme}.*not part of this program yet"):
        await resolve(url, context)
    with pytest.raises(ToolError, match=f"{scheme}.*not part of this program yet"):
        await write(url, "x", context)


@pytest.mark.parametrize("url", ["artifact://aaaaaa/x.txt", "history://", "conflict://1"])
async def test_what_is_kept_is_not_written(context: ToolContext, url: str) -> None:
    """write.md/Inputs: only writable internal URLs are."""
    with pytest.raises(ToolError, match="read-only"):
        await write(url, "x", context)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("artifact://aaaaaa/aaaaaa-7.txt", id="read.md/Internal URLs/artifact SESSION-CALL"),
        pytest.param("artifact://aaaaaa-7.txt", id="read.md/Internal URLs/artifact CALL"),
    ],
)
async def test_an_artifact_is_found_in_both_forms(context: ToolContext, form: str) -> None:
    """It never changes, so it has no tag."""
    context.workplace.artifacts.store("aaaaaa-7.txt", b"one\ntwo\n")
    resource = await resolve(form, context)
    assert resource.url == "artifact://aaaaaa/aaaaaa-7.txt"
    assert resource.immutable
    assert resource.source_path is not None
    assert resource.source_path.read_text() == "one\ntwo\n"
    assert (await read(context, form)).text == "1:one\n2:two"


@pytest.mark.parametrize(
    "url",
    [
        "artifact://",
        "artifact://aaaaaa/",
        "artifact://aaaaaa/..",
        "artifact://../../etc/passwd",
        "artifact://aaaaaa/../x",
        "artifact://aaaaaa/%2e%2e",
        "artifact:///etc/passwd",
        "artifact://aaaaaa/nothing",
        "history://nobody",
        "history://../x",
    ],
)
async def test_what_is_not_kept_is_an_error(context: ToolContext, url: str) -> None:
    """And leads nowhere else."""
    with pytest.raises(ToolError):
        await resolve(url, context)


async def test_a_big_artifact_is_read_a_piece_at_a_time(context: ToolContext) -> None:
    """read.md/Internal URLs: pages of it cost what they are, not what it is."""
    url = context.workplace.artifacts.store("big.txt", b"".join(b"line %07d\n" % n for n in range(1, 2_000_001)))
    tracemalloc.start()
    outcome = await read(context, f"{url}:1999999-2000000:raw")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert outcome.text == "line 1999999\nline 2000000"
    assert most < 8_000_000
    assert (await read(context, f"{url}:5-5")).text.startswith("4:line 0000004\n5:line 0000005\n")


async def test_a_binary_artifact_is_told_of(context: ToolContext) -> None:
    """Not shown."""
    url = context.workplace.artifacts.store("x.bin", bytes(100))
    assert "[Cannot read binary file" in (await read(context, url)).text


async def test_conversations_are_read(context: ToolContext) -> None:
    """read.md/Internal URLs/history: one's own without a name."""
    assert (await read(context, "history://:raw")).text == "## user\n\nmine"
    assert (await resolve("history://", context)).text.endswith("mine")
    assert (await resolve("history://bbbbbb", context)).text.endswith("another")
    context.workplace.history = None
    with pytest.raises(ToolError, match="No conversation is stored"):
        await resolve("history://", context)


async def test_notes_are_written_read_listed_and_edited(context: ToolContext) -> None:
    """read.md/Internal URLs/local: the folder is made when it is first needed."""
    assert not context.workplace.local.exists()
    assert (await read(context, "local://")).text == "[The resource is empty]"
    assert not context.workplace.local.exists()
    await run(WriteTool(), context, path="local://plans/a.md", content="one\ntwo\n")
    await write("local://b.txt", "x", context)
    assert (await read(context, "local://:raw")).text == "b.txt (1 B)\nplans/"
    shown = (await read(context, "local://plans/a.md")).text
    header, _, rest = shown.partition("\n")
    assert header.startswith("¶local://plans/a.md#")
    assert rest == "1:one\n2:two"
    await run(EditTool(), context, input=f"{header}\nreplace 2..2:\n+TWO")
    assert (context.workplace.local / "plans" / "a.md").read_text() == "one\nTWO\n"


@pytest.mark.parametrize(
    "url",
    [
        "local://../x",
        "local://a/../../x",
        "local://out/x",
        "local://link",
        "local://a\\..\\..\\x",
        "local://\0",
        "local:///../x",
        "local://" + "a" * 300,
        "local://" + "a/" * 3000 + "b",
    ],
)
async def test_nothing_leads_out_of_the_notes(context: ToolContext, tmp_path: Path, url: str) -> None:
    """Neither `..` nor a link, for reading or writing."""
    local = context.workplace.local
    local.mkdir()
    (tmp_path / "x").write_text("secret")
    os.symlink(tmp_path, local / "out")
    os.symlink(tmp_path / "x", local / "link")
    with pytest.raises(ToolError):
        await resolve(url, context)
    with pytest.raises(ToolError):
        await write(url, "changed", context)
    assert (tmp_path / "x").read_text() == "secret"


async def test_a_slash_at_the_start_is_not_the_root(context: ToolContext) -> None:
    """local:///etc/x is a note."""
    await write("local:///etc/x", "mine", context)
    assert (context.workplace.local / "etc" / "x").read_text() == "mine"


@pytest.mark.parametrize("url", ["local://", "local://a/", "local://folder", "local://a.md:5-6", "local://file/x"])
async def test_what_is_no_file_of_the_notes_is_not_written(context: ToolContext, url: str) -> None:
    """A folder, lines of a file, a file as a folder."""
    (context.workplace.local / "folder").mkdir(parents=True)
    (context.workplace.local / "file").write_text("x")
    with pytest.raises(ToolError):
        await write(url, "x", context)


async def test_a_missing_note_names_those_there_are(context: ToolContext) -> None:
    """So that the next call is right."""
    with pytest.raises(ToolError, match="Nothing was written"):
        await resolve("local://x", context)
    await write("local://plan.md", "x", context)
    with pytest.raises(ToolError, match=r"There are: 'plan\.md'"):
        await resolve("local://x", context)


async def test_search_and_find_look_behind_addresses(context: ToolContext) -> None:
    """search.md and find.md: at the file or folder, or at the text."""
    url = context.workplace.artifacts.store("out.txt", b"a\nneedle\n")
    await write("local://notes/n.md", "needle\n", context)
    assert "needle" in (await run(SearchTool(), context, pattern="needle", paths=[url])).text
    assert "needle" in (await run(SearchTool(), context, pattern="needle", paths=["local://notes"])).text
    assert "mine" in (await run(SearchTool(), context, pattern="mine", paths=["history://"])).text
    assert "n.md" in (await run(FindTool(), context, paths=["local://"])).text


async def test_a_conflict_is_one_of_them(context: ToolContext) -> None:
    """The same text as read shows."""
    text = "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> x\n"
    path = context.cwd / "f"
    path.write_text(text)
    (found,) = context.shared(Conflicts).register(path, text)
    assert (await resolve(f"conflict://{found.id}/ours", context)).text == "ours\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    st.sampled_from(("local", "artifact", "history", "conflict")),
    st.text(alphabet="ab./\\:~%\0\n\ud800é5-", max_size=15),
)
async def test_anything_is_a_resource_or_an_error_in_words(tmp_path: Path, scheme: str, rest: str) -> None:
    """And what is found is inside."""
    context = make_context(tmp_path)
    (context.workplace.local / "a").mkdir(parents=True, exist_ok=True)
    (tmp_path / "b").write_text("outside")
    try:
        found = await resolve(f"{scheme}://{rest}", context)
    except ToolError:
        return
    if found.source_path is not None:
        assert found.source_path.resolve().is_relative_to(context.workplace.local.resolve())
