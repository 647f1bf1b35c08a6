"""Addresses through the read tool: internal resources, web pages, and those nobody knows."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.tools import Outcome, ToolContext, ToolError
from sightline.tools.read import ReadTool
from tests.tools.support import make_context, run

TEXT = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def read(context: ToolContext, path: str) -> Outcome:
    return await run(ReadTool(), context, path=path)


async def test_a_local_resource_is_read_like_a_file(context: ToolContext) -> None:
    """read.md/Internal URLs: paged in memory; it can be edited, so it has a tag."""
    context.workplace.local.mkdir()
    (context.workplace.local / "plan.md").write_text(TEXT)
    outcome = await read(context, "local://plan.md:5-6")
    assert outcome.text.startswith("¶local://plan.md#")
    assert outcome.text.split("\n")[1:] == [f"{number}:line {number}" for number in range(4, 10)]
    assert outcome.details["ui"]["kind"] == "resource"
    assert outcome.details["meta"]["source"]["type"] == "internal"


async def test_an_artifact_has_no_tag(context: ToolContext) -> None:
    """read.md/Notes: nothing can be edited there."""
    url = context.workplace.artifacts.store("out.txt", TEXT.encode())
    assert (await read(context, f"{url}:5-6")).text.startswith("4:line 4\n")
    assert (await read(context, f"{url}:5-6:raw")).text == "line 5\nline 6"
    assert "Line 99 is beyond the end of the resource (20 lines)" in (await read(context, f"{url}:99")).text


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(url, id=f"read.md/Internal URLs/{url}")
        for url in ("agent://x", "issue://1", "pr://1", "mcp://x", "memory://x", "rule://x", "skill://x", "vault://x")
    ],
)
async def test_what_is_not_there_yet_is_named(context: ToolContext, url: str) -> None:
    """An error with the scheme in it."""
    with pytest.raises(ToolError, match=url.partition(":")[0]):
        await read(context, url)


async def test_an_unknown_scheme_is_refused(context: ToolContext) -> None:
    """read.md/Errors: it is not taken for a path."""
    with pytest.raises(ToolError, match="gopher://"):
        await read(context, "gopher://example.com")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("https://docs.example.com/a", id="read.md/Web URLs/https"),
        pytest.param("http://docs.example.com:8080/a:5-9", id="read.md/Web URLs/port and selector"),
        pytest.param("www.example.com", id="read.md/Web URLs/www."),
    ],
)
def test_a_web_address_needs_the_network(context: ToolContext, path: str) -> None:
    """Of its host; nothing is fetched to find out."""
    tool = ReadTool()
    (need,) = tool.needs(tool.params(path=path), context)
    assert need.access == "network"
    assert "example.com" in need.what


def test_internal_addresses_need_nothing(context: ToolContext) -> None:
    """They are the session's own."""
    tool = ReadTool()
    for path in ("local://x", "artifact://aaaaaa/1", "history://", "conflict://1"):
        assert tool.needs(tool.params(path=path), context) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(st.text(alphabet="ab.zip:db?q=&-+,0159rawL/ ~\"'%\0\n\ud800é#¶", max_size=20))
async def test_whatever_is_written_it_fails_only_in_words(tmp_path: Path, path: str) -> None:
    """An outcome or a ToolError; needs and execute agree on what can be read."""
    context = make_context(tmp_path)
    (context.cwd / "a").write_text(TEXT)
    tool = ReadTool()
    try:
        outside = tool.needs(tool.params(path=path), context)
        if not outside and "." not in path:
            await read(context, path)
    except ToolError:
        pass
