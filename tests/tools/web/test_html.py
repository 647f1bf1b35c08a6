"""HTML as markdown."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tools.web import _html
from sightline.tools.web._html import render

BASE = "https://x.example/docs/page"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        pytest.param("<h1>One</h1><h3>Three</h3>", "# One\n\n### Three", id="headings"),
        pytest.param("<title>T &amp; U</title><p>x", "# T & U\n\nx", id="a title where there is no heading"),
        pytest.param("<p>a\n  b</p><p>c<br>d", "a b\n\nc\nd", id="paragraphs"),
        pytest.param("a <a href='../b c'>the  link</a>, on", "a [the link](https://x.example/b%20c), on", id="links"),
        pytest.param("<a href=/x><h2>T</h2></a>", "## [T](https://x.example/x)", id="a link around a heading"),
        pytest.param("<a href=#x>a</a> <a href=javascript:y>b</a>", "a b", id="links that lead nowhere"),
        pytest.param("<base href=https://y.example/><a href=z>a</a>", "[a](https://y.example/z)", id="base"),
        pytest.param("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c", id="lists"),
        pytest.param("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b", id="ordered lists"),
        pytest.param("<ul><li><p>a</p><p>b</p></ul>", "- a\n\n  b", id="an item of two paragraphs"),
        pytest.param("use <code>x</code>", "use `x`", id="code in a line"),
        pytest.param(
            "<pre><code class='language-py hl'>a &lt; b\n\n  c</code></pre>", "```py\na < b\n\n  c\n```", id="code"
        ),
        pytest.param("<pre>a ``` b</pre>", "````\na ``` b\n````", id="code with a fence in it"),
        pytest.param(
            "<table><tr><th>a<th>b<tr><td>1|2<td><p>3</p></table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |",
            id="tables",
        ),
        pytest.param("<table><tr><td>a</table>", "a", id="a table that is none"),
        pytest.param("<table><tr><td>1<td><pre>x</pre></table>", "1\n\n```\nx\n```", id="a table around code"),
        pytest.param("<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc", id="quotes"),
        pytest.param("a<hr>b", "a\n\n---\n\nb", id="a rule"),
        pytest.param("<img src=i.png alt='A b'><img src=j>", "![A b](https://x.example/docs/i.png)", id="images"),
        pytest.param("<script>'<p>no'</script><style>no</style>yes", "yes", id="scripts and styles"),
        pytest.param("<nav>no</nav><svg><text>no</text></svg>yes", "yes", id="menus and drawings"),
        pytest.param("<nav>only</nav>", "only", id="a menu when there is nothing else"),
        pytest.param("<div hidden>no</div><div style='display: none'><div>no</div>no</div>yes", "yes", id="hidden"),
        pytest.param("<div class='md:block hidden x' aria-hidden=false>yes</div>", "yes", id="a class called hidden"),
        pytest.param("<!-- no --><!DOCTYPE x><?no?>1 < 2 &lt; 3", "1 < 2 < 3", id="comments and signs"),
        pytest.param("a&#27;[31mb&#x202e;c\x1b]0;t\x07d", "a[31mbcd", id="controls"),
        pytest.param("&#" + "9" * 10_000 + ";&#xD800;&nope;", "\ufffd\ufffd&nope;", id="references nobody has"),
        pytest.param("a <b 'c>d</b>", "a d", id="a quote that is never closed"),
        pytest.param("a<p", "a", id="a tag that never ends"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_html_is_rendered(html: str, expected: str) -> None:
    """What is not its text is left out."""
    assert render(html, BASE).text == expected


def test_other_forms_of_a_page_are_found() -> None:
    """The first of each kind, made whole."""
    found = render(
        "<link rel='x alternate' type=text/markdown href=a.md><link rel=alternate type=text/markdown href=b>", BASE
    )
    assert found.alternates == {"text/markdown": "https://x.example/docs/a.md"}
    assert render("<a href=/p.PDF?x=1>p</a>", BASE).documents == ["https://x.example/p.PDF?x=1"]


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * 100_000 + "x", id="100,000 tags deep"),
        pytest.param("<ul><li>" * 100_000 + "x", id="lists"),
        pytest.param("<blockquote>" * 100_000 + "x", id="quotes"),
        pytest.param("<table><tr><td>" * 50_000 + "x", id="tables"),
        pytest.param("<a href='" + "x" * 4_000_000 + "'>y</a>", id="a huge attribute"),
        pytest.param("<a " + "x=y " * 500_000 + ">y</a>", id="many attributes"),
        pytest.param("<a '>' " * 100_000 + '"', id="quotes that do not close"),
        pytest.param("<a " * 300_000, id="tags that do not close"),
        pytest.param("<!-- " * 300_000, id="comments that do not close"),
        pytest.param("<script>" * 300_000, id="scripts that do not close"),
        pytest.param("<" * 2_000_000, id="signs"),
        pytest.param("&" * 1_000_000, id="references"),
        pytest.param("`" * 2_000_000, id="backticks"),
        pytest.param("<pre>" + "\n" * 2_000_000 + "x", id="line ends"),
        pytest.param("<a href=a>b</a>" * 100_000, id="links"),
        pytest.param("<" + "a" * 3_000_000, id="a long name"),
        pytest.param("<title>" * 100_000, id="titles"),
    ],
)
def test_a_hostile_page_takes_bounded_time_and_space(html: str) -> None:
    """Twice as much takes twice as long, not four times; the links of a long address do not blow it up."""
    started = time.process_time()
    found = render(html, BASE + "/d" * 900)
    assert time.process_time() - started < _html.SECONDS + 2
    assert len(found.text) <= 9 * 1024**2


def test_a_page_that_takes_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it says so."""
    monkeypatch.setattr(_html, "SECONDS", -1.0)
    assert render("<p>x", BASE).cut
    monkeypatch.undo()
    assert render("x" * (_html.MAX_INPUT + 1), BASE).cut
    assert not render("<p>x", BASE).cut


_NAMES = (
    "p",
    "ul",
    "ol",
    "li",
    "pre",
    "code",
    "table",
    "tr",
    "td",
    "h1",
    "script",
    "nav",
    "blockquote",
    "title",
    "div",
)
_PIECES = st.one_of(
    st.sampled_from([f"<{slash}{name}>" for name in _NAMES for slash in ("", "/")]),
    st.sampled_from(
        ("<a href='/x'>", "</a>", "<img alt=a src=b>", "<div hidden>", "<br>", "<hr>", "<h2", "<!--", "-->")
    ),
    st.sampled_from(
        (">", "<", "&", ";", "'", '"', "&#x1b;", "&lt;", "\x1b[31m", "\u202e", "\0", "\x85", "\r\n", "``", "=")
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=60).map("".join))
def test_anything_is_rendered(html: str) -> None:
    """It never raises, ends soon, and what comes out has no controls, no half characters, no overrides of direction."""
    text = render(html, BASE).text
    text.encode()
    assert not [one for one in text if unicodedata.category(one) == "Cc" and one not in "\n\t"]
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert len(text) < 100 * len(html) + 100
