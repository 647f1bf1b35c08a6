"""What markdown looks like: rows with the roles they are drawn in."""

import pytest

from sightline.text import clean_line
from sightline.tty.components._markdown import Markdown
from sightline.tty.theme._theme import theme_for
from tests.tty.components.markdown_texts import TEXTS
from tests.tty.components.role_marks import MARKS, marked, unmarked


def rows(text: str, width: int = 60) -> list[str]:
    """Rows of a finished text, with their roles."""
    markdown = Markdown(text, theme=MARKS)
    markdown.finish()
    return [marked(row) for row in markdown.render(width)]


def texts(text: str, width: int = 60) -> list[str]:
    markdown = Markdown(text, theme=MARKS)
    markdown.finish()
    return [unmarked(row) for row in markdown.render(width)]


def test_a_typical_answer() -> None:
    """Headings, paragraphs, lists, code and a table, as a model writes them."""
    text = """# What I *found*
The **scheduler** calls `run()` twice; see [the notes](https://example.org/n).

1. Stop it
   - first `a`
   - then b
2. Start it

```python
def f(x):
    return x  # s
```
| name | ms |
|:-----|---:|
| old | 12.5 |
| new | 3 |

> Measured on an idle machine.

---
Done.
"""
    assert rows(text, 50) == [
        "<heading_mark># </><heading>What I </><heading><emphasis>found</>",
        "",
        "The <strong>scheduler</> calls <code>run()</> twice; see {https://example.org/n}<link>the notes</>{}.",
        "",
        "<list_marker>1.</> Stop it",
        "   <list_marker>•</> first <code>a</>",
        "   <list_marker>•</> then b",
        "<list_marker>2.</> Start it",
        "",
        "<code_border>```python</>",
        "<code_block><syntax_keyword>def</><code_block> </><code_block><syntax_function>f</><code_block>(x):</>",
        "<code_block>    </><code_block><syntax_keyword>return</><code_block> x  </><code_block><syntax_comment># s</>",
        "<code_border>```</>",
        "",
        "<table_header>name</> <table_border>│</>   <table_header>ms</>",
        "<table_border>─────┼─────</>",
        "old  <table_border>│</> 12.5",
        "new  <table_border>│</>    3",
        "",
        "<quote_border>│</> <quote>Measured on an idle machine.</>",
        "",
        f"<rule>{'─' * 50}</>",
        "",
        "Done.",
    ]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("**a *b* c**", "<strong>a </><strong><emphasis>b</><strong> c</>"),
        ("~~a~~ ~5 ~6", "<strike>a</> ~5 ~6"),
        ("`` a`b ``", "<code>a`b</>"),
        ("![an image](https://a.b/c.png)", "{https://a.b/c.png}<image_fallback>[an image]</>{}"),
        ("[file](src/a.py)", "<link>file</><link_url> (src/a.py)</>"),
        ("[here](#there)", "<link>here</>"),
        ("see https://a.b/c_d_(e), ok", "see {https://a.b/c_d_(e)}<link>https://a.b/c_d_(e)</>{}, ok"),
        ("(www.a.b)", "({http://www.a.b}<link>www.a.b</>{})"),
        ("[https://a.b](https://c.d), ok", "{https://c.d}<link><link>https://a.b</>{}, ok"),
        ("请看https://a.b/c，谢谢", "请看{https://a.b/c}<link>https://a.b/c</>{}，谢谢"),
        ("<me@a.b>", "{mailto:me@a.b}<link>me@a.b</>{}"),
        ("[ä](https://a.b/ä)", "{https://a.b/%C3%A4}<link>ä</>{}"),
        ("a <b>c</b> <i", "a <b>c</b> <i"),
        ("&lt;&#65;&#27;[31m&#x202e;&nope;", "<A[31m&nope;"),
        ("\\*a\\*", "*a*"),
        ("[x](javascript:alert)", "<link>x</><link_url> (javascript:alert)</>"),
    ],
)
def test_inline_markup(text: str, row: str) -> None:
    """What a line of inline markup looks like, and what it opens."""
    assert rows(text) == [row]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("[the docs](https://a.b/c?d=1), ok", "the docs (https://a.b/c?d=1), ok"),
        ("[https://a.b](https://a.b)", "https://a.b"),
        ("[me@a.b](mailto:me@a.b)", "me@a.b"),
        ("<https://a.b> https://c.d", "https://a.b https://c.d"),
        ("![an image](https://a.b/c.png)", "[an image] (https://a.b/c.png)"),
        ("[here](#there)", "here"),
    ],
)
def test_where_links_cannot_be_opened_their_address_is_shown(text: str, row: str) -> None:
    """After the text, unless the text says it; the theme knows whether the terminal opens links."""
    theme = theme_for(dark=True, depth="256", links=False)
    markdown = Markdown(text, theme=theme)
    markdown.finish()
    assert [clean_line(line) for line in markdown.render(60)] == [row]


def test_a_theme_that_becomes_another_shows_addresses_as_that_one_does() -> None:
    """Components hold their theme for good."""
    held = theme_for(dark=True, depth="256")
    markdown = Markdown("[a](https://x.y)", theme=held)
    markdown.finish()
    assert clean_line(markdown.render(60)[0]) == "a"
    held.become(theme_for(dark=True, depth="256", links=False))
    markdown.invalidate()
    assert clean_line(markdown.render(60)[0]) == "a (https://x.y)"


def test_hard_breaks_and_br_begin_a_row() -> None:
    """Two blanks, a backslash and `<br>` break a row, a line's end alone does not."""
    assert texts("a  \nb\\\nc<br/>d\ne") == ["a", "b", "c", "d e"]


def test_lists_are_as_loose_as_their_source() -> None:
    """A blank row stands between items where a blank line stood, and only there."""
    assert texts("- a\n- b\n\n- c\n  d\n\n  e\n- f\n\n\ng") == ["• a", "• b", "", "• c d", "", "  e", "• f", "", "g"]


def test_markers_by_kind_and_depth() -> None:
    """Bullets change with their depth, numbers count on from the first, tasks show their box."""
    text = "- a\n  - b\n    - c\n\n7. d\n7. e\n\n1) f\n\n- [ ] g\n- [x] h\n"
    expected = ["• a", "  ◦ b", "    ▪ c", "", "7. d", "8. e", "", "1) f", "", "[ ] g", "[x] h"]
    assert texts(text) == expected
    assert rows("- [x] h") == ["<success>[x]</> h"]


def test_rows_go_on_below_their_text() -> None:
    """What wraps in an item or a quote is indented like its first row."""
    assert texts("10. one two three\n    > four five six", 12) == [
        "10. one two",
        "    three",
        "    │ four",
        "    │ five",
        "    │ six",
    ]


def test_empty_items_keep_their_marker() -> None:
    """An item with nothing in it is a row nevertheless."""
    assert texts("-\n- a\n1.\n2. >\n") == ["•", "• a", "", "1.", "2. │"]


def test_a_reference_is_known_from_its_definition_on() -> None:
    """Used before, a reference stays text; definitions are shown, so that no address is lost."""
    assert rows("[a]\n\n[a]: https://x.y 'T'\n\n[a], [t][A]") == [
        "[a]",
        "",
        "<link_url>[a]: </>{https://x.y}<link>https://x.y</>{}",
        "",
        "{https://x.y}<link>a</>{}, {https://x.y}<link>t</>{}",
    ]


def test_html_is_shown_as_text() -> None:
    """Tags of a block are not interpreted, and neither is markdown inside."""
    assert rows("<div>\n*a*\n</div>\n\n<!--\n\nb -->") == [
        "<muted><div></>",
        "<muted>*a*</>",
        "<muted></div></>",
        "",
        "<muted><!--</>",
        "",
        "<muted>b --></>",
    ]


def test_code_is_kept_to_the_letter() -> None:
    """Lines of code are folded where the row ends, with every character, blank and empty line kept."""
    assert texts("```\nabcdefghij  k\n\n    l\n```", 6) == ["```", "abcdef", "ghij  ", "k", "", "    l", "```"]


def test_a_fence_that_is_still_open_shows_no_end() -> None:
    """While code streams its closing line is not there yet; at the end of the text it is."""
    markdown = Markdown("```\na")
    assert list(markdown.render(20)) == ["```", "a"]
    markdown.finish()
    assert list(markdown.render(20)) == ["```", "a", "```"]


def test_a_table_without_room_is_stacked() -> None:
    """Where columns would be too narrow to read, each row is a list of its values."""
    text = "| name | what it does |\n|--|--|\n| alpha | begins everything |\n| omega | ends it |\n"
    assert texts(text, 14) == [
        "name: alpha", "what it does:", "begins", "everything", "", "name: omega", "what it does:", "ends it"
    ]  # fmt: skip


def test_a_table_keeps_what_is_too_much() -> None:
    """Cells beyond the header's go on in the last column instead of getting lost."""
    assert texts("a|b\n-|-\n1|2|3\n4") == ["a │ b", "──┼──────", "1 │ 2 | 3", "4 │"]


def test_without_looks_marks_stay() -> None:
    """Where a theme has no look for code, its backticks are kept."""
    markdown = Markdown("a `b` **c**")
    markdown.finish()
    assert list(markdown.render(20)) == ["a `b` c"]


def test_a_cut_in_a_huge_paragraph_cannot_be_seen() -> None:
    """A huge paragraph is read piece by piece; its rows flow on, and marks pair within what is not huge."""
    words = [f"**bold words {n}** and `code {n}` in [a link {n}](https://a.b/{n}),\n" for n in range(300)]
    plain = " ".join(f"bold words {n} and code {n} in a link {n}," for n in range(300))
    assert " ".join(texts("".join(words), 80)) == plain
    assert all(len(row) > 60 for row in texts("".join(words), 80)[:-1])


def test_deep_nesting_leaves_room_for_text() -> None:
    """Containers never take more than half the width: the outer ones give way."""
    found = texts("> " * 30 + "a few words", 20)
    assert found == ["│ " * 5 + "a few", "│ " * 5 + "words"]


@pytest.mark.parametrize("width", [-1, 0, 1, 2, 3, 5])
@pytest.mark.parametrize("name", TEXTS)
def test_no_width_is_too_small(name: str, width: int) -> None:
    """Rows fit the width however small it is."""
    from sightline.tty.cells._width import measure

    assert all(measure(row) <= max(width, 0) for row in Markdown(TEXTS[name], theme=MARKS).render(width))


@pytest.mark.parametrize("name", TEXTS)
def test_no_row_is_padded(name: str) -> None:
    """Nothing but the text of code ends in a blank: what is copied is the text."""
    if "code" not in name:
        assert [row for row in texts(TEXTS[name], 33) if row.endswith(" ")] == []
