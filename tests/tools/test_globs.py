"""Globs lose no file: find and search, with ripgrep and without, against a matcher that tries everything."""

import random
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import SupportsIndex

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.files import _globs, _ripgrep
from sightline.tools.files._globs import Globs
from sightline.tools.find import FindTool
from sightline.tools.search import SearchTool
from tests.tools.support import make_context, run

_NFD = unicodedata.normalize("NFD", "é")
_TREE = (
    "a.py", "b.py", "ab.py", "é.py", f"{_NFD}1.py", "é1.py", "a.ts", "a.tsx", "b.tsx", "sub/a.py", "sub/b.ts",
    "sub/deep/a.py", "sub/deep/x.tsx", "src/a.py", "src/ab.py", "src/sub/a.py", "src/sub/deep/é.py", f"src/{_NFD}.py",
    "src/x y.py", "src/[x].py", "src/{x}.py", "src/-.py", "src/.hidden.py", "naïve/a.py",
)  # fmt: skip
_PIECES = (
    "a", "b", "x", "é", _NFD, ".", ".py", ".ts", "*", "**", "**/", "?", "/", "sub", "src", "src/", "deep/", "[ab]",
    "[!a]", "[a-é]", "{,x}", "{,sub/}", "{a,b}", "{src,sub}/", "{a,{b,x}}", "{", "}", "{a}",
)  # fmt: skip


@pytest.fixture(params=["rg", "no rg"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "no rg":
        monkeypatch.setattr(_ripgrep, "program", lambda: None)
    elif _ripgrep.program() is None:
        pytest.skip("needs ripgrep")
    return str(request.param)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    context = make_context(tmp_path)
    for name in _TREE:
        (context.cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (context.cwd / name).write_text("needle\n")
    return context


def _written_out(glob: str) -> list[str]:
    """The first brace that is closed, all its choices, again and again."""
    for start, character in enumerate(glob):
        if character != "{":
            continue
        depth, parts, part = 0, [], start + 1
        for at in range(start, len(glob)):
            depth += {"{": 1, "}": -1}.get(glob[at], 0)
            if (glob[at] == "," and depth == 1) or depth == 0:
                parts.append(glob[part:at])
                part = at + 1
            if depth == 0:
                return [one for each in parts for one in _written_out(glob[:start] + each + glob[at + 1 :])]
    return [glob]


def _matches(glob: str, path: str, *, name_begins: bool = True) -> bool:
    if not glob:
        return not path
    if glob.startswith("**") and name_begins:
        rest = glob.lstrip("*")
        rest = rest[1:] if rest.startswith("/") else f"*{rest}"
        folders = path.split("/")
        return any(_matches(rest, "/".join(folders[n:])) for n in range(len(folders)))
    if glob[0] == "*":
        rest = glob.lstrip("*")
        return any(_matches(rest, path[n:], name_begins=False) for n in range(len(path.split("/")[0]) + 1))
    if glob[0] == "[" and (end := glob.find("]", 3 if glob[1:2] == "!" else 2)) > 0:
        inside = glob[1:end]
        return (
            bool(path)
            and path[0] != "/"
            and _in_class(path[0], inside)
            and _matches(glob[end + 1 :], path[1:], name_begins=False)
        )
    if not path or (path[0] == "/" if glob[0] == "?" else path[0] != glob[0]):
        return False
    return _matches(glob[1:], path[1:], name_begins=glob[0] == "/")


def _in_class(character: str, inside: str) -> bool:
    negated = inside.startswith("!")
    members = inside.removeprefix("!")
    found = False
    while members:
        if members[1:2] == "-" and len(members) > 2:
            found, members = found or members[0] <= character <= members[2], members[3:]
        else:
            found, members = found or members[0] == character, members[1:]
    return found != negated


def _meant(glob: str) -> set[str]:
    """The files of the tree a glob means; one that begins as a glob looks in every folder."""
    written = [unicodedata.normalize("NFC", one) for one in _written_out(_in_every_folder(glob))]
    return {name for name in _TREE if any(_matches(one, unicodedata.normalize("NFC", name)) for one in written)}


async def _found(glob: str, context: ToolContext) -> set[str]:
    outcome = await run(FindTool(), context, paths=[glob])
    return {name for name in outcome.details["files"] if not name.endswith("/")}


async def _searched(glob: str, context: ToolContext) -> set[str]:
    from sightline.tools.search import _query

    assert len(_TREE) > 20
    outcome = await run(SearchTool(), context, pattern="needle", paths=[glob])
    second = await run(SearchTool(), context, pattern="needle", paths=[glob], skip=_query.FILES_PER_PAGE)
    return {*outcome.details.get("files", ()), *second.details.get("files", ())}


def _random_globs(seed: int, count: int) -> Iterator[str]:
    chance = random.Random(seed)
    while count:
        glob = "".join(chance.choices(_PIECES, k=chance.randint(1, 6)))
        strange = glob.startswith("/") or any(part in glob for part in ("//", "..", "./"))
        if not strange and any(special in glob for special in "*?[{"):
            count -= 1
            yield glob


@pytest.mark.parametrize(
    "glob",
    [
        "*.ts{,x}",
        "{,sub/}*.py",
        "src/**.py",
        "src/**",
        "?.py",
        "??.py",
        "src/?.py",
        "[é].py",
        f"{_NFD}*.py",
        "src/é.py?",
        "src/{é,x}*",
        "src/x ?.py",
        "naïve/*.py",
        "na?ve/*.py",
        "{a,{b,é}}.py",
        "**/a.py",
        "src/[[]x].py",
    ],
)
async def test_every_file_that_is_meant_is_found(glob: str, engine: str, context: ToolContext) -> None:
    assert await _found(glob, context) == _meant(glob)
    assert await _searched(glob, context) == _meant(glob)


def _in_every_folder(glob: str) -> str:
    first = glob.split("/")[0]
    anywhere = any(special in first for special in "*?[{") and not glob.startswith("**/")
    return f"**/{glob}" if anywhere else glob


def test_random_globs_mean_what_the_reference_says() -> None:
    seed = random.randrange(1 << 32)
    for glob in _random_globs(seed, 1000):
        meant = Globs([("", _in_every_folder(glob))])
        assert {name for name in _TREE if meant(name)} == _meant(glob), f"{glob!r} (seed {seed})"


@pytest.mark.skipif(_ripgrep.program() is None, reason="needs ripgrep")
async def test_ripgrep_is_never_told_to_leave_out_what_is_meant(context: ToolContext) -> None:
    seed = random.randrange(1 << 32)
    for glob in _random_globs(seed, 40):
        names: set[str] = set()
        async for batch in _ripgrep.listing(context.cwd, rules=_ripgrep.rules_for([("", _in_every_folder(glob))])):
            names |= set(batch)
        assert names >= _meant(glob), f"{glob!r} (seed {seed})"


async def test_a_glob_that_ends_with_a_slash_finds_folders(engine: str, context: ToolContext) -> None:
    """`src/*/` means the folders in src; it found nothing."""
    assert (await run(FindTool(), context, paths=["src/*/"])).details["files"] == ["src/sub/"]


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("[!0-9]*", [".x", "-x", "a1"], ["0a", "9"]),
        ("[!1]", ["0", "a"], ["1"]),
        ("[!-a]", ["b", "0"], ["-", "a"]),
        ("[!a-]", ["b"], ["a", "-"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[]-a]", ["]", "^", "a"], ["b", "["]),
        ("[!]a]", ["b"], ["]", "a"]),
        ("[z-a]", ["[z-a]"], ["z", "b"]),
        ("[[z-a]", ["[[z-a]"], ["z"]),
        ("[z-a][b]", ["[z-a]b"], ["b"]),
        ("[]", ["[]"], []),
        ("[!]", ["[!]"], []),
        ("{[,],a}", [",", "a"], ["[", "]"]),
        ("{a,{b,c}", ["{a,b", "{a,c"], ["a", "b"]),
        ("{{a},b,{c", ["{a,b,{c"], ["a", "{{a},b,{c"]),
        ("}a,b{", ["}a,b{"], ["a"]),
        (r"\{a,b}", ["{a,b}"], ["a"]),
    ],
)
def test_classes_and_braces(glob: str, yes: list[str], no: list[str]) -> None:
    """What a class leaves out may be a digit or a hyphen; what is not closed is meant literally."""
    meant = Globs([("", glob)])
    assert [name for name in [*yes, *no] if meant(name)] == yes


_TOO_LONG = "A glob has more than 4,096 characters"
_TOO_MUCH = "more than 16,384 characters"


@pytest.mark.parametrize(
    ("glob", "complaint"),
    [
        ("{a}" * 12_000, _TOO_LONG),
        ("[z-" * 4000 + "]", _TOO_LONG),
        ("{a,b}" * 8 + "**/*x/" * 2000, _TOO_LONG),
        ("{a,b}" * 8 + "**/*x/" * 200, _TOO_MUCH),
        ("{" + "x" * 100 + ",y}" + "{a,b}" * 7 + "z" * 200, _TOO_MUCH),
        ("{a,b}" * 9, "more than 256 globs"),
        ("{" + "a," * 256 + "b}", "more than 256 globs"),
        ("{" * 100 + "{a,b}" * 9 + "}" * 100, "more than 256 globs"),
    ],
)
async def test_a_glob_that_stands_for_too_much_is_refused(
    glob: str, complaint: str, engine: str, context: ToolContext
) -> None:
    """The model chose it, and it is read on the event loop: such a glob kept the program for minutes."""
    with pytest.raises(ToolError, match=complaint):
        await run(FindTool(), context, paths=[glob])
    with pytest.raises(ToolError, match=complaint):
        await run(SearchTool(), context, pattern="needle", paths=[glob])


async def test_all_globs_of_a_call_have_one_bound(engine: str, context: ToolContext) -> None:
    paths = [f"{number}*{'x' * 100}" for number in range(200)]
    with pytest.raises(ToolError, match=_TOO_MUCH):
        await run(FindTool(), context, paths=paths)
    with pytest.raises(ToolError, match=_TOO_MUCH):
        await run(SearchTool(), context, pattern="needle", paths=paths)


@pytest.mark.parametrize("paths", [["x y"] * 1001, ["a.py " * 1001], ["a.py," * 1001]])
async def test_a_call_names_at_most_a_thousand_paths(paths: list[str], context: ToolContext) -> None:
    with pytest.raises(ToolError, match="more than 1,000 paths"):
        await run(FindTool(), context, paths=paths)


class _Counted(str):
    """A text that counts how often its characters are looked at, and those of texts that are made of it."""

    looks = 0

    def __getitem__(self, key: SupportsIndex | slice) -> "_Counted":
        found = _Counted(super().__getitem__(key))
        _Counted.looks += len(found)
        return found

    def __add__(self, other: str) -> "_Counted":
        return _Counted(super().__add__(other))


@pytest.mark.parametrize(
    "unit",
    ["{a}", "[z-", "[", "{", "}", "]", "[!]", "{,", "{[", "[]-", "{a", "*", "**/", "\\", "?a", "[a-z]"],
)
@pytest.mark.parametrize("end", ["", "]", "}", "z-a]"])
def test_a_glob_is_read_in_proportion_to_its_length(unit: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: the characters that are looked at, and the expressions that are compiled while it is read."""
    compiled: list[str] = []
    monkeypatch.setattr(re, "compile", compiled.append)
    glob = _Counted(unit * (4000 // len(unit)) + end)
    _Counted.looks = 0
    for one in _globs._written_out(glob):
        _globs._pieces(_Counted(one))
    assert _Counted.looks < 20 * len(glob)
    assert not compiled
