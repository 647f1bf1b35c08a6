"""The search tool, and patterns as models write them, made into ones the engine takes.

A brace that cannot be a repetition is meant literally (`${name}`, `interface{}`); `a{2,4}` stays. Parentheses are
escaped only after the engine reported that one of them has no partner.
"""

import asyncio
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from sightline.handles import real_path
from sightline.paths import own_data
from sightline.tools._context import ToolContext
from sightline.tools._tool import Need, Outcome, Tool, ToolError
from sightline.tools.files._paths import read_need
from sightline.tools.search._query import MULTILINE_BYTES, BadPattern, SearchPage, SearchQuery

if TYPE_CHECKING:
    from sightline.tools.search._scope import SearchScope

_LONGEST_PATTERN = 10_000  # bytes; a longer one can take the engine a minute to understand
_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
# Escapes that take their own braces: \p{Greek}, \x{1F600}, \u{e9}, \b{start}.
_BRACED_ESCAPE = re.compile(r"\\[pPxuUbB]\{[^{}]*\}")
_UNBALANCED = re.compile(r"unclosed group|unopened group|unbalanced parenthesis|missing \), unterminated subpattern")


class SearchParams(msgspec.Struct, frozen=True, kw_only=True):
    pattern: Annotated[str, Meta(description="Regex (Rust syntax). Escape literal braces, such as interface\\{\\}")]
    paths: Annotated[
        str | list[str],
        Meta(
            description="File, directory, glob, archive member (a.zip:src/x.py) or internal URL, or several. One file "
            "may have lines after it: src/app.py:50-100 or :5-16,960-973"
        ),
    ]
    i: Annotated[bool, Meta(description="Ignore case")] = False
    gitignore: Annotated[bool, Meta(description="Leave out what .gitignore names")] = True
    skip: Annotated[int | float, Meta(description="Files to skip, for the next page of a result")] = 0


class SearchTool(Tool[SearchParams]):
    name = "search"
    description = (
        "Search file contents with a regex. Prefer it to grep in a shell. Lines are shown as *LINE:TEXT (match) and "
        " LINE:TEXT (around it) under ¶PATH#TAG (of several files # PATH#TAG), which edit takes as ¶PATH#TAG. 20 files "
        "per page: use skip for the next."
    )
    params = SearchParams
    confined = True

    def needs(self, params: SearchParams, context: ToolContext) -> list[Need]:
        from sightline.tools import resources
        from sightline.tools.search._scope import addresses, starting_points

        needs = [need for path in starting_points(params.paths, context.cwd) for need in read_need(path, context.cwd)]
        needs += [need for url in addresses(params.paths, context.cwd) for need in resources.needs_of(url, context)]
        return list(dict.fromkeys(needs))

    def preview(self, params: SearchParams) -> str:
        paths = params.paths if isinstance(params.paths, str) else ", ".join(params.paths)
        return f"{params.pattern} in {paths}"

    async def execute(self, params: SearchParams, context: ToolContext) -> Outcome:
        import shutil
        import tempfile

        from sightline.tools.files._ripgrep import endless_ignore_files
        from sightline.tools.search._render import render
        from sightline.tools.search._scope import entries_of, resolve_scope

        pattern, skip = _checked(params)
        entries = await asyncio.to_thread(entries_of, params.paths, context.cwd)
        scratch = Path(tempfile.mkdtemp(prefix="sightline-search-"))
        try:
            scope = await resolve_scope(entries, context, scratch)
            query = _query(params, pattern, skip, scope, context)
            await asyncio.to_thread(_refuse_huge, query)
            found = await _found(query)
            if len(found.unreadable) == len(query.targets):
                raise ToolError(f"Cannot search {'; '.join(found.unreadable)}")
            if found.problem and not found.hits:
                raise ToolError(f"The search is not complete: {found.problem}. There may be matches.")
            if query.gitignore:
                folders = [target.path for target in query.targets if not target.is_file]
                scope.unreadable += await asyncio.to_thread(endless_ignore_files, folders, context.cwd)
            return await asyncio.to_thread(render, found, query, scope, entries, context)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _checked(params: SearchParams) -> tuple[str, int]:
    pattern = params.pattern.strip()
    if not pattern:
        raise ToolError("Pattern must not be empty")
    if not math.isfinite(params.skip) or params.skip < 0:
        raise ToolError("Skip must be a non-negative number")
    if "\0" in pattern:
        raise ToolError(r"Invalid regex: it contains a NUL character. Write \x00")
    try:
        size = len(pattern.encode())
    except UnicodeEncodeError:
        raise ToolError("Invalid regex: it has a lone surrogate in it. Write it again") from None
    if size > _LONGEST_PATTERN:
        raise ToolError(f"Invalid regex: it is longer than {_LONGEST_PATTERN} bytes")
    return pattern, math.floor(params.skip)


def _query(params: SearchParams, pattern: str, skip: int, scope: "SearchScope", context: ToolContext) -> SearchQuery:
    return SearchQuery(
        pattern=_with_literal_braces(pattern),
        multiline="\n" in pattern or "\\n" in pattern,
        ignore_case=params.i,
        gitignore=params.gitignore,
        before=context.settings.search.context_before,
        after=context.settings.search.context_after,
        skip=skip,
        targets=scope.targets,
        is_denied=_left_out(scope, context),
    )


def _left_out(scope: "SearchScope", context: ToolContext) -> Callable[[str], bool] | None:
    """What a walk passes over: what a rule forbids reading, and what Sightline stores, unless that was named itself and
    so was judged."""
    is_denied, is_ours = context.workplace.limits().is_denied, own_data()
    if any(is_ours(real_path(target.path)) for target in scope.targets):
        return is_denied
    return lambda path: is_ours(path) or (is_denied is not None and is_denied(path))


async def _found(query: SearchQuery) -> SearchPage:
    """A pattern whose parentheses do not fit together is tried again with all of them meant literally."""
    from sightline.tools.search import _engine

    try:
        return await _engine.search(query)
    except BadPattern as problem:
        complaint = str(problem)
    if _lacks_a_parenthesis(complaint):
        try:
            return await _engine.search(
                msgspec.structs.replace(query, pattern=_with_literal_parentheses(query.pattern))
            )
        except BadPattern as problem:
            complaint = str(problem)
    raise ToolError(f"Invalid regex: {_reason(complaint)}")


def _refuse_huge(query: SearchQuery) -> None:
    """What is come across is left out by the engine itself; what is named is not."""
    for target in query.targets:
        if query.multiline and target.is_file and target.path.stat().st_size > MULTILINE_BYTES:
            name = target.label or target.path.name
            raise ToolError(
                f"{name} has more than {MULTILINE_BYTES >> 20} MiB, too much for a pattern with \\n, which needs it "
                "whole in memory. Search for one line of it."
            )


def _reason(complaint: str) -> str:
    """The engine's complaint without its picture, in one line."""
    errors = re.findall(r"^error: (.*)", complaint, re.MULTILINE)
    return errors[-1] if errors else " ".join(complaint.removeprefix("rg: ").split())


def _with_literal_braces(pattern: str) -> str:
    """Every brace that is neither a repetition of something nor part of an escape, escaped."""
    made: list[str] = []
    at, depth, repeatable = 0, 0, False
    while at < len(pattern):
        piece, depth = _piece(pattern, at, depth)
        quantifier = None if depth else _QUANTIFIER.match(pattern, at)
        if quantifier is not None and repeatable:
            piece = quantifier[0]
            made.append(piece)
        elif piece in ("{", "}") and not depth:
            if made[-1:] == ["$"]:  # the end of a line with a brace after it matches nothing
                made[-1] = r"\$"
            made.append("\\" + piece)
        else:
            made.append(piece)
        at += len(piece)
        repeatable = piece not in ("(", "|", "^") and not (piece == ":" and "".join(made[-3:-1]) == "(?")
    return "".join(made)


def _piece(pattern: str, at: int, depth: int) -> tuple[str, int]:
    """The escape or character at a place, and how many brackets are open after it."""
    if pattern[at] == "\\":
        braced = None if depth else _BRACED_ESCAPE.match(pattern, at)
        return (braced[0] if braced else pattern[at : at + 2]), depth
    if pattern[at] == "[":
        return _opening(pattern, at), depth + 1
    if pattern[at] == "]" and depth:
        return "]", depth - 1
    return pattern[at], depth


def _opening(pattern: str, at: int) -> str:
    """A bracket with what may follow it without closing it: `[]`, `[^]`."""
    found = re.compile(r"\[\^?\]?").match(pattern, at)
    return found[0] if found else "["


def _with_literal_parentheses(pattern: str) -> str:
    """Every parenthesis that is not escaped and not in brackets, escaped."""
    made: list[str] = []
    at, depth = 0, 0
    while at < len(pattern):
        piece, depth = _piece(pattern, at, depth)
        made.append("\\" + piece if piece in ("(", ")") and not depth else piece)
        at += len(piece)
    return "".join(made)


def _lacks_a_parenthesis(complaint: str) -> bool:
    return _UNBALANCED.search(complaint) is not None
