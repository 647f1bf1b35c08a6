"""Syntax in colour: what is found in each language, and that a line's end loses nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.components._highlight import Highlighter, highlighter, warm
from sightline.tty.components._languages import ALIASES, LANGUAGES


def tokens(language: str, text: str) -> list[tuple[str, str]]:
    """Everything that has a role, without the `syntax_` of most."""
    found = highlighter(language)
    assert found is not None
    state, all_tokens = "", []
    for line in text.split("\n"):
        line_tokens, state = found.line(line, state)
        all_tokens += [(role.removeprefix("syntax_"), part) for role, part in line_tokens if role]
    return all_tokens


CASES = [
    ("python", "@a.b", [("decorator", "@a.b")]),
    ("python", "async def f(x): return None", [
        ("keyword", "async"), ("keyword", "def"), ("function", "f"), ("keyword", "return"), ("number", "None")]),
    ("python", 'rb"a\\"b" + 0xff  # c', [("string", 'rb"a\\"b"'), ("number", "0xff"), ("comment", "# c")]),
    ("python", '"""a\n"b"\n""" + 1', [("string", '"""a'), ("string", '"b"'), ("string", '"""'), ("number", "1")]),
    ("python", "class Name(Base):", [("keyword", "class"), ("type", "Name"), ("type", "Base")]),
    ("javascript", "const f = `a\n${b}`; // c", [
        ("keyword", "const"), ("string", "`a"), ("string", "${b}`"), ("comment", "// c")]),
    ("tsx", "type A = string | null", [
        ("keyword", "type"), ("type", "A"), ("builtin", "string"), ("number", "null")]),
    ("json", '{"a": ["b", 1.5e3, true]}', [
        ("name", '"a"'), ("string", '"b"'), ("number", "1.5e3"), ("number", "true")]),
    ("bash", 'for f in "$x\ny"; do ls -la $f # z', [
        ("keyword", "for"), ("keyword", "in"), ("string", '"$x'), ("string", 'y"'), ("keyword", "do"),
        ("builtin", "ls"), ("operator", "-la"), ("name", "$f"), ("comment", "# z")]),
    ("go", "func (s *Server) Run() error { /* a\nb */ return nil }", [
        ("keyword", "func"), ("type", "Server"), ("type", "Run"), ("builtin", "error"), ("comment", "/* a"),
        ("comment", "b */"),
        ("keyword", "return"), ("number", "nil")]),
    ("rust", "#[derive(Debug)] fn f<'a>() { println!(\"x\") }", [
        ("decorator", "#[derive(Debug)]"), ("keyword", "fn"), ("function", "println!"), ("string", '"x"')]),
    ("c++", "#include <a>\nint x = 'c';", [("decorator", "#include"), ("builtin", "int"), ("string", "'c'")]),
    ("java", "@Override public int f() {}", [
        ("decorator", "@Override"), ("keyword", "public"), ("builtin", "int"), ("function", "f")]),
    ("yaml", "a-b: 1 # c\n- d: 'e'\nf: true", [
        ("name", "a-b"), ("number", "1"), ("comment", "# c"), ("operator", "- "), ("name", "d"),
        ("string", "'e'"), ("name", "f"), ("number", "true")]),
    ("toml", '[a.b]\nc = "d" # e', [("type", "[a.b]"), ("name", "c"), ("string", '"d"'), ("comment", "# e")]),
    ("html", '<a b="c">&amp;</a><!-- d\ne -->', [
        ("keyword", "<a"), ("name", "b"), ("string", '"c"'), ("keyword", ">"), ("number", "&amp;"),
        ("keyword", "</a"), ("keyword", ">"),
        ("comment", "<!-- d"), ("comment", "e -->")]),
    ("css", ".a { color: #fff; }", [("type", ".a"), ("name", "color"), ("number", "#fff")]),
    ("sql", "select count(*) FROM a -- b", [
        ("keyword", "select"), ("builtin", "count"), ("keyword", "FROM"), ("comment", "-- b")]),
    ("diff", "--- a\n@@ -1 +1 @@\n-x\n+y", [
        ("comment", "--- a"), ("diff_hunk", "@@ -1 +1 @@"), ("diff_removed", "-x"), ("diff_added", "+y")]),
    ("md", "# A\n- `b`", [("heading", "# A"), ("list_marker", "-"), ("code", "`b`")]),
    ("ruby", "def f; @a = :b # c", [("keyword", "def"), ("name", "@a"), ("number", ":b"), ("comment", "# c")]),
    ("dockerfile", "FROM a AS b\nRUN x --y $z", [
        ("keyword", "FROM"), ("keyword", "AS"), ("keyword", "RUN"), ("operator", "--y"), ("name", "$z")]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_what_is_found(language: str, text: str, expected: list[tuple[str, str]]) -> None:
    """The parts a reader looks for have a role of their own."""
    assert tokens(language, text) == expected


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(LANGUAGES)), st.lists(st.text("ab1 \"'`/*#<>-!=$@:{}[]().\\é\t", max_size=30), max_size=6)
)
def test_every_character_is_kept(language: str, lines: list[str]) -> None:
    """The tokens of a line are the line, whatever it says and whatever is open before it."""
    found = highlighter(language)
    assert found is not None
    state = ""
    for line in lines:
        parts, state = found.line(line, state)
        assert "".join(text for _, text in parts) == line


def test_names_behind_a_fence() -> None:
    """Names are found in any case, with braces and dots around them; an unknown one is plain."""
    assert highlighter("Python") is highlighter("py") is highlighter("{.python}")
    assert highlighter("no such language") is None
    assert highlighter("") is None
    assert set(ALIASES.values()) <= set(LANGUAGES)


def test_languages_can_be_made_ready() -> None:
    """`warm` compiles what will be needed, and passes over what nobody knows."""
    warm([*LANGUAGES, "unknown"])
    assert all(isinstance(highlighter(name), Highlighter) for name in LANGUAGES)
