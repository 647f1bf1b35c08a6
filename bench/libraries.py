"""What we wrote ourselves against the library that does the same: why each is ours (decision 14).

Ratios are ours to the library's in the same run, CPU of one thread, the smallest of several runs. A goal is what has to
hold for ours to stay; a row without one is what ours costs, or what the library does in its place.
"""

import asyncio
import itertools
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2
import tomlkit
from pygments.lexers.javascript import JavascriptLexer  # type: ignore[import-untyped]
from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser

from bench.row import Row
from sightline.models.http._client import HttpClient
from sightline.models.http._sse import Splitter
from sightline.settings._edit import with_value
from sightline.tools.web._html import render
from sightline.tty.components._highlight import highlighter

_ROUNDS = 5


def rows() -> Iterator[Row]:
    yield from _html_rows()
    yield from _toml_rows()
    yield from _highlighting_rows()
    yield from _sse_rows()


# HTML to text: selectolax finds the tags of a page, and makes no markdown.

_SECTION = (
    "<h2 id=a{n}>Section {n}</h2><p>Words with <b>weight</b>, a <a href='/p/{n}'>link</a> and <code>code_{n}</code> "
    "&amp; more.</p><ul><li>one<li>two <i>x</i></ul><pre><code class=language-py>def f():\n    return {n}\n</code>"
    "</pre>"
    "<table><tr><th>a<th>b</tr><tr><td>{n}<td>x</tr></table>"
)
_PAGE = "<html><head><title>T</title></head><body>" + "".join(_SECTION.format(n=n) for n in range(400))
_DEPTH = 8000


def _html_rows() -> Iterator[Row]:
    ours, theirs = _cpu(lambda: render(_PAGE, "http://h/")), _cpu(_walked)
    yield Row("HTML, a page of 110 KB: ours to text / selectolax, a walk", None, ours / theirs)
    growth = _growth(lambda page: render(page, "http://h/"))
    yield Row("HTML, open tags twice as deep: ours takes", 2.6, growth)
    yield Row("HTML, open tags twice as deep: selectolax takes", None, _growth(LexborHTMLParser))


def _walked() -> None:
    root = LexborHTMLParser(_PAGE).root
    assert root is not None
    for node in root.traverse(include_text=True):
        _ = node.text_content if node.tag == "-text" else node.attributes if node.tag in ("a", "img") else None


def _growth(parse: Callable[[str], Any]) -> float:
    """The parser of selectolax is C: while it works on such a page, nothing can stop it."""
    return _cpu(lambda: parse("<div>" * 2 * _DEPTH)) / _cpu(lambda: parse("<div>" * _DEPTH))


# TOML: one setting of a file that a person wrote is changed, or added.

_FILES = (
    '# top\nmodel = "a"\n\n# about permissions\n[permissions]\n# about sandbox\nsandbox = true\n\n'
    '# about the screen\n[ui]\n# about theme\ntheme = "dark"  # at night\n\n'
    "# about models\n[models.servers.two]\napi = 1\n",
    '[permissions]\nsandbox = true\n\n# about the screen\n[ui]\ntheme = "dark"\n',
    "permissions.sandbox = true\n# about the screen\nui.theme = 'dark'\n",
    '[permissions]\n# what git may do\nallow = [\n  "exec(git)", # git\n]\nsandbox = true\n\n# the screen\n[ui]\n',
    'permissions = { sandbox = true }\n# about the screen\nui = {theme = "dark"}\n',
)
_KEYS = (
    ("permissions", "sandbox"),
    ("permissions", "approval"),
    ("permissions", "rules", "allow"),
    ("ui", "theme"),
    ("ui", "new"),
    ("model",),
    ("models", "servers", "three", "api"),
)


def _toml_rows() -> Iterator[Row]:
    for name, edit, goal in (("ours", with_value, 0.0), ("tomlkit", _with_tomlkit, None)):
        edits = [(text, _edited(edit, text, key)) for text, key in itertools.product(_FILES, _KEYS)]
        moved = sum(_moved(text, after) for text, after in edits if after)
        yield Row(f"TOML, {len(edits)} edits: comments above another line, {name}", goal, moved, "")
        yield Row(
            f"TOML, {len(edits)} edits: left to the user's editor, {name}", None, sum(not a for _, a in edits), ""
        )
    ours = _import_cpu("from sightline.settings import _edit", before="import tomllib, sightline.settings")
    theirs = _import_cpu("import tomlkit", before="import tomllib, sightline.settings")
    yield Row("TOML, what the first edit imports: ours / tomlkit", 1.0, ours / theirs)


def _with_tomlkit(text: str, key: tuple[str, ...], value: Any) -> str:
    document: Any = tomlkit.parse(text)
    table = document
    for name in key[:-1]:
        table = table.setdefault(name, tomlkit.table(is_super_table=name != key[-2]))
    table[key[-1]] = value
    return tomlkit.dumps(document)


def _edited(edit: Callable[[str, tuple[str, ...], Any], str], text: str, key: tuple[str, ...]) -> str:
    """Empty when the edited file has wrong values: the program checks that, and leaves the file alone."""
    expected = tomllib.loads(text)
    table: Any = expected
    for name in key[:-1]:
        table = table.setdefault(name, {})
    table[key[-1]] = "v"
    with suppress(ValueError, TypeError):
        after = edit(text, key, "v")
        if tomllib.loads(after) == expected:
            return after
    return ""


def _moved(before: str, after: str) -> int:
    """How many comments stand above another line than before; that line's own value may have changed."""
    left = set(_commented(after))
    return sum(pair not in left for pair in _commented(before))


def _commented(text: str) -> Iterator[tuple[str, str]]:
    for comment, line in itertools.pairwise(filter(str.strip, text.split("\n"))):
        if comment.startswith("#"):
            yield comment, line.partition("=")[0]


# Highlighting: a row has its colours when its line ends, for good.

_CODE = {
    "python": (
        PythonLexer(stripnl=False),
        [
            *'def f(event: Event, *, retries: int = 3) -> "Result":\n    """Handle\n    one event."""\n'.splitlines(),
            *"    for attempt in range(retries):  # the usual case\n        print(f'{event.id}')\n".splitlines(),
        ]
        * 60,
    ),
    "javascript": (
        JavascriptLexer(stripnl=False),
        ["/* what", "   it does */", "const rows = (n) => `row ${n}`;", "if (rows(1) === 'x') return /ab+/g;", ""] * 60,
    ),
}


def _highlighting_rows() -> Iterator[Row]:
    for language, (lexer, lines) in _CODE.items():
        ours, theirs = _cpu(lambda: _our_rows(language, lines)), _cpu(lambda: _their_rows(lexer, lines))  # noqa: B023
        yield Row(f"highlighting, 300 lines of {language} at once: ours / Pygments", 1.0, ours / theirs)
        shown: list[list[tuple[str, str]]] = []
        changed = 0
        for count in range(1, 101):
            fresh = _their_rows(lexer, lines[:count])[:count]
            changed += sum(before != now for before, now in zip(shown, fresh, strict=False))
            shown = fresh
        yield Row(f"highlighting, 100 rows of {language} changed later: Pygments", None, changed, "")
    ours = _import_cpu("from sightline.tty.components._highlight import highlighter as h; h('python').line('x', '')")
    theirs = _import_cpu("from pygments.lexers import get_lexer_by_name as g; list(g('python').get_tokens('x'))")
    yield Row("highlighting, first line of a language: ours / Pygments", 1.0, ours / theirs)


def _our_rows(language: str, lines: list[str]) -> None:
    known, state = highlighter(language), ""
    assert known is not None
    for line in lines:
        _, state = known.line(line, state)


def _their_rows(lexer: Any, lines: list[str]) -> list[list[tuple[str, str]]]:
    """From the first line on: Pygments does not give its state away."""
    found: list[list[tuple[str, str]]] = [[]]
    for kind, text in lexer.get_tokens("\n".join(lines) + "\n"):
        for number, part in enumerate(text.split("\n")):
            if number:
                found.append([])
            if part:
                found[-1].append((str(kind), part))
    return found


# Server-sent events, and the client they come through.

_EVENT = b'event: delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word"}}\n\n'
_EVENTS = 5000
_THERE = "import asyncio, sightline.models.http"


def _sse_rows() -> Iterator[Row]:
    with _Server() as url:
        ours, theirs = _cpu(lambda: asyncio.run(_ours(url))), _cpu(lambda: asyncio.run(_theirs(url)))
    yield Row(f"SSE, {_EVENTS:,} events of a server: ours / httpx2's sse", 0.7, ours / theirs)
    ours = _import_cpu("from sightline.models.http import _client, _sse", before=_THERE)
    theirs = _import_cpu("import httpx2, httpcore2, anyio._backends._asyncio", before=_THERE)
    yield Row("SSE, what the first request imports: ours / httpx2", 0.6, ours / theirs)


async def _ours(url: str) -> None:
    client, splitter, count = HttpClient(urlsplit(url), connect_seconds=5, silence_seconds=5), Splitter(), 0
    async with client.answer("GET", url, {}) as answer:
        async for chunk in answer.chunks():
            count += len(splitter.feed(chunk))
    await client.close()
    assert count == _EVENTS


async def _theirs(url: str) -> None:
    count = 0
    async with httpx2.AsyncClient(trust_env=False) as client, client.sse(url) as source:
        async for _ in source:
            count += 1
    assert count == _EVENTS


class _Server:
    """Each event in a chunk of its own, as model servers send them, from a thread of its own."""

    def __enter__(self) -> str:
        started = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(started),))
        self._thread.start()
        started.wait()
        return f"http://127.0.0.1:{self._port}/"

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await self._over.wait()
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(_EVENTS):
            writer.write(b"%x\r\n%s\r\n" % (len(_EVENT), _EVENT))
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()


def _cpu(work: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.thread_time()
        work()
        best = min(best, time.thread_time() - began)
    return best


def _import_cpu(statements: str, *, before: str = "") -> float:
    """CPU of the statements in a fresh interpreter. `before`: what the program has imported by then."""
    code = f"import time\n{before}\nt = time.process_time()\n{statements}\nprint(time.process_time() - t)"
    done = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True) for _ in range(_ROUNDS)]
    return min(float(one.stdout) for one in done)
