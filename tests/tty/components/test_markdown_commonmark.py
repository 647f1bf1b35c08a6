"""Our block and inline parser against markdown-it, which passes CommonMark's own tests."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sightline.tty.components.markdown._blocks import MarkdownBlocks
from sightline.tty.components.markdown._containers import ListItem, Stack
from sightline.tty.components.markdown._inline import parse_inline
from sightline.tty.components.markdown._layout import MarkdownLayout
from sightline.tty.theme._theme import PLAIN, Theme
from tests.tty.components.markdown_texts import TEXTS

Leaf = tuple[tuple[str, ...], str, str]

_reference = MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Recorder(MarkdownLayout):
    """Keeps the blocks instead of drawing them."""

    def __init__(self) -> None:
        super().__init__(PLAIN, 80)
        self.leaves: list[Leaf] = []

    def _keep(self, stack: Stack, kind: str, text: str) -> None:
        self.flush()
        self._shown = len(stack)
        path = tuple(each.kind if isinstance(each, ListItem) else "quote" for each in stack)
        self.leaves.append((path, kind, "\n".join(line.rstrip(" ") for line in text.split("\n"))))

    def _more(self, text: str) -> None:
        path, kind, before = self.leaves[-1]
        self.leaves[-1] = (path, kind, f"{before}\n{text.rstrip(' ')}")

    def bare(self, stack: Stack) -> None:
        self._shown = len(stack)

    def paragraph(self, stack: Stack, text: str, references: object, *, ended: bool) -> None:
        self._keep(stack, "paragraph", _boxless(stack) + _bare(text))

    def heading(self, stack: Stack, level: int, text: str, references: object) -> None:
        self._keep(stack, f"h{level}", _bare(text))

    def rule(self, stack: Stack) -> None:
        self._keep(stack, "hr", "")

    def open_code(self, stack: Stack, fence: str, info: str) -> None:
        self._keep(stack, "fence", info)

    def open_indented(self, stack: Stack) -> None:
        self._keep(stack, "code", "")

    def open_html(self, stack: Stack) -> None:
        self._keep(stack, "html", "")

    def code_line(self, line: str, *, ended: bool) -> None:
        self._more(line)

    def close_code(self, fence: str) -> None:
        pass

    def open_table(self, stack: Stack, header: tuple[str, ...], aligns: object, references: object) -> None:
        self._size = len(header)
        self._keep(stack, "table", repr(header))

    def table_row(self, cells: tuple[str, ...], references: object) -> None:
        # Where the reference drops what is too much, we keep it in the last cell.
        first = (*cells[:-1], cells[-1].partition(" | ")[0])
        self._more(repr((*first, *[""] * (self._size - len(cells)))))

    def close_table(self) -> None:
        pass


def _boxless(stack: Stack) -> str:
    """The box of a task, which plain CommonMark leaves in the text."""
    return f"{stack[-1].box} " if stack and isinstance(stack[-1], ListItem) and stack[-1].box else ""


def _bare(text: str) -> str:
    return "\n".join(line.strip(" ") for line in text.split("\n"))


def ours(text: str) -> list[Leaf]:
    recorder = Recorder()
    blocks = MarkdownBlocks(recorder)
    for line in text.expandtabs(4).removesuffix("\n").split("\n"):
        blocks.feed(line, ended=True)
    blocks.end(streaming=False)
    return _without_last_blanks(recorder.leaves)


def theirs(text: str) -> list[Leaf]:
    leaves: list[Leaf] = []
    path: list[str] = []
    kind = ""
    row: list[str] = []

    def keep(kind: str, content: str) -> None:
        leaves.append((tuple(path), kind, "\n".join(line.rstrip(" ") for line in content.split("\n"))))

    for token in _reference.parse(text.expandtabs(4)):
        match token.type:
            case "blockquote_open":
                path.append("quote")
            case "list_item_open":
                path.append(token.markup)
            case "blockquote_close" | "list_item_close":
                path.pop()
            case "paragraph_open" | "heading_open":
                kind = "paragraph" if token.type == "paragraph_open" else token.tag
            case "tr_open":
                row = []
            case "th_open" | "td_open":
                kind = "cell"
            case "inline" if kind == "cell":
                row.append(token.content)
            case "inline":
                keep(kind, _bare(token.content.replace("[X]", "[x]")))
            case "thead_close":
                keep("table", repr(tuple(row)))
            case "tr_close" if leaves and leaves[-1][1] == "table" and repr(tuple(row)) != leaves[-1][2]:
                leaves[-1] = (*leaves[-1][:2], f"{leaves[-1][2]}\n{tuple(row)!r}")
            case "hr":
                keep("hr", "")
            case "fence" | "code_block" | "html_block":
                name = {"fence": "fence", "code_block": "code", "html_block": "html"}[token.type]
                keep(name, "\n".join([token.info.strip(), *_lines(token)]))
    return _without_last_blanks(leaves)


def _without_last_blanks(leaves: list[Leaf]) -> list[Leaf]:
    """Blank lines at the end of a block that the text's end closed are neither here nor there."""
    return [(path, kind, text.rstrip("\n")) for path, kind, text in leaves]


def _lines(token: Token) -> list[str]:
    return token.content.removesuffix("\n").split("\n") if token.content else []


_LINES = [
    "text", "more text", "", "", "  ", "# head", "## head ##", "===", "---", "- a", "- b", "  - c", "   text",
    "    code", "     code", "* d", "1. e", "2. f", "1) g", "   - h", "> q", "> - r", ">> s", ">", "> ", "```",
    "```py", "~~~", "***", "<div>", "</div>", "<!-- x", "y -->", "-", "*", "10. i", "\tcode", "- \ttab", "-     five",
    "  > t", "   ```", "+ u", "- - v", "1. - w", "#", "a\\", "-----", "====x",
]  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name in TEXTS if name not in ("references", "one long paragraph", "wide characters")]
)
def test_blocks_are_those_of_markdown_it(name: str) -> None:
    """Each construct gives the leaves, in the containers, that the reference finds."""
    text = TEXTS[name]
    if len(text) < 1000:
        assert ours(text) == theirs(text)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_LINES), max_size=9).map("\n".join))
def test_blocks_of_any_lines_are_those_of_markdown_it(text: str) -> None:
    """The same for lines in any order."""
    assert ours(text) == theirs(text)


_ROLES = ("strong", "emphasis", "strike", "code", "link", "image_fallback")
_LOOK = Theme({role: f"<{role}>" for role in (*_ROLES, "link_url")})
_PIECES = [
    "a", "b c", " ", " ", "*", "*", "**", "***", "_", "__", "~~", "`", "``", "[", "]", "](", "](u)", "](<u v> 't')",
    ")", "(", "\\", "\n", "  \n", "\\\n", ".", "&amp;", "&copy;", "&bogus;", "<b>", "<x:y>", "<", ">", "é", "“", "日",
    "<a@b.c>", "<!-- c -->", "\\*", "1",
]  # fmt: skip


def our_runs(text: str) -> list[tuple[str, frozenset[str]]]:
    """Runs as text and roles, without the addresses shown behind links a terminal cannot open."""
    runs = [run for run in parse_inline(text, _LOOK, "", {}) if "<link_url>" not in run.style]
    return _merged([(run.text, frozenset(role for role in _ROLES if f"<{role}>" in run.style)) for run in runs])


def their_runs(text: str) -> list[tuple[str, frozenset[str]]]:
    found: list[tuple[str, frozenset[str]]] = []
    around: list[str] = []
    for token in (child for inline in _reference.parseInline(text) for child in inline.children or []):
        styles = frozenset(around)
        match token.type:
            case "strong_open" | "em_open" | "s_open" | "link_open":
                around.append({"strong": "strong", "em": "emphasis", "s": "strike", "a": "link"}[token.tag])
            case "strong_close" | "em_close" | "s_close" | "link_close":
                around.pop()
            case "softbreak":
                found.append((" ", styles))
            case "hardbreak":
                found.append(("\n", styles))
            case "code_inline":
                found.append((token.content, styles | {"code"}))
            case "html_inline":
                found.append((token.content.replace("\n", " "), styles))
            case "text" | "text_special":
                found.append((token.content, styles))
    return _merged(found)


def _merged(runs: list[tuple[str, frozenset[str]]]) -> list[tuple[str, frozenset[str]]]:
    merged: list[tuple[str, frozenset[str]]] = []
    for text, styles in runs:
        if merged and merged[-1][1] == styles:
            merged[-1] = (merged[-1][0] + text, styles)
        elif text:
            merged.append((text, styles))
    return merged


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=14).map("".join).map(str.strip))
def test_inline_markup_is_that_of_markdown_it(text: str) -> None:
    """Emphasis, code, links, breaks and entities pair as the reference pairs them."""
    text = re.sub(" {3,}\n", "  \n", text)  # as the block parser leaves it
    text = re.sub(r"\\ +\n", "\n", text)  # the reference does not see the break there
    text = re.sub("~{3,}", "~~", text)  # never strikethrough in GFM
    text = "\n".join(line.lstrip(" ") for line in text.split("\n"))
    assert our_runs(text) == their_runs(text)
