"""search.md, Internal URL paths: files behind an address, and words that have no file."""

from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.find import FindTool
from tests.tools.search.conftest import Search
from tests.tools.support import run


class Conversations:
    """This session's own is all there is."""

    def file(self, session: str) -> Path | None:
        return Path("/sessions") / session / "journal.jsonl" if session else None

    def read(self, session: str) -> str | None:
        return "you said login\nI did\n" if not session else None


@pytest.fixture
def notes(context: ToolContext) -> Path:
    folder = context.workplace.local
    (folder / "deep").mkdir(parents=True)
    (folder / "plan.md").write_text("one\nlogin plan\n")
    (folder / "deep" / "more.md").write_text("login more\n")
    return folder


async def test_a_file_behind_an_address(search: Search, notes: Path, engine: str) -> None:
    """search.md/Modes/Internal URL: shown by its address, with a tag when it can be edited."""
    header, *lines = (await search("login", "local://plan.md")).text.splitlines()
    assert header.startswith("¶local://plan.md#")
    assert lines == [" 1:one", "*2:login plan"]
    assert (await search("login", "local://plan.md:1-1")).text == "No matches found"


async def test_the_folder_behind_an_address(search: Search, notes: Path, engine: str) -> None:
    """search.md/Modes/Internal URL: every file in it."""
    files = (await search("login", "local://")).details["files"]
    assert files == ["local://deep/more.md", "local://plan.md"]
    assert (await search("login", "local://deep")).details["files"] == ["local://deep/more.md"]


async def test_what_never_changes_has_no_tag(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Flow: immutable sources suppress numbers for edits."""
    url = context.workplace.artifacts.store("out", b"login out\n")
    assert (await search("login", url)).text == "*1|login out"


async def test_words_without_a_file(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Modes/Virtual resources: searched all the same, alone and among files."""
    context.workplace.history = Conversations()
    found = await search("LOGIN", "history://", i=True)
    assert (found.details["files"], found.text) == (["history://"], "*1|you said login\n 2|I did")
    assert (await search("login", "history://:2-2")).text == "No matches found"
    assert sorted((await search("login", ["history://", "docs"])).details["files"]) == ["docs/guide.md", "history://"]
    with pytest.raises(ToolError, match="Invalid regex: "):
        await search("[", "history://")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("local://*.md", "Glob patterns are not supported for internal URLs", id="search.md/Errors/glob"),
        pytest.param("local://[a].md", "Glob patterns are not supported", id="search.md/Errors/glob, class"),
        pytest.param("local://gone.md", "There is no local://gone.md", id="search.md/Errors/missing resource"),
        pytest.param("local://deep:1-2", "is a directory", id="search.md/Errors/lines of a folder"),
        pytest.param("omp://", "not part of this program", id="search.md/Modes/omp://"),
        pytest.param("skill://x", "There are no skills in this session", id="search.md/Modes/skill://"),
        pytest.param("local://plan.md:conflicts", "not conflicts", id="search.md/Errors/conflicts"),
    ],
)
async def test_errors(search: Search, notes: Path, url: str, message: str) -> None:
    """Each says what was wrong or what is missing."""
    with pytest.raises(ToolError) as raised:
        await search("x", url)
    assert message in str(raised.value)


async def test_several_addresses_joined_by_a_comma(search: Search, notes: Path, engine: str) -> None:
    """search.md/Inputs: split when each part stands for something."""
    assert (await search("login", "local://plan.md,local://deep")).details["file_count"] == 2
    (notes / "a,b.md").write_text("login\n")
    assert (await search("login", "local://a,b.md")).details["files"] == ["local://a,b.md"]


async def test_find_behind_an_address(context: ToolContext, notes: Path, engine: str) -> None:
    """find.md/Modes/Internal URL input: files by their addresses; what has no file is refused."""
    found = await run(FindTool(), context, paths=["local://"])
    assert sorted(found.details["files"]) == ["local://deep/", "local://deep/more.md", "local://plan.md"]
    assert (await run(FindTool(), context, paths=["local://plan.md"])).details["files"] == ["local://plan.md"]
    context.workplace.history = Conversations()
    with pytest.raises(ToolError, match="There is no file behind history://"):
        await run(FindTool(), context, paths=["history://"])
