"""Inline markup: one paragraph's text becomes runs (CommonMark 0.31, strikethrough and bare addresses of GFM).

The text is read once from left to right. Marks that may open or close something wait as nodes; `_emphasis` pairs them
by CommonMark's rules when a link closes and at the end. What pairs with nothing is text. HTML is text, except `<br>`.
"""

import re
from collections.abc import Mapping

from sightline.text import clean_line
from sightline.tty.cells._link import link
from sightline.tty.components._runs import TextRun
from sightline.tty.components.markdown._emphasis import Delimiters, EmphasisNode, delimiter
from sightline.tty.theme._theme import Theme

References = Mapping[str, str]

_token = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])|(?P<hard>(?:\\|  )\n)|(?P<soft> ?\n)|(?P<ticks>`+)|(?P<angle><)"
    r"|(?P<entity>&(?:\#[xX][0-9a-fA-F]{1,6}|\#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<bracket>!?\[)|(?P<close>\])|(?P<mark>\*+|_+|~+)|(?P<address>(?:https?://|www\.)[^\s<，。；：！？、（）《》「」『』【】]+)"
).search
_autolink = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>").match
_email = re.compile(r"<([\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)>").match
_html = re.compile(
    r"<(?:/[A-Za-z][\w-]*\s*|[A-Za-z][\w-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\s*/?"
    r"|!--.*?--|\?.*?\?|![A-Za-z][^>]*|!\[CDATA\[.*?\]\])>",
    re.DOTALL,
).match
_break = re.compile(r"<br\s*/?>", re.IGNORECASE).fullmatch
_PARENS = r"(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*\))*"
TARGET = rf"(?:<(?P<angled>(?:[^<>\n\\]|\\.)*)>|(?P<bare>{_PARENS}))"
TITLE = r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))"
_inline_target = re.compile(rf"\(\s*+{TARGET}(?:\s++{TITLE})?\s*\)", re.DOTALL).match
_label = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL).match
_escaped = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:#[xX]?[0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});)").sub
_ticks = re.compile("`+").finditer
_METHODS = {name: f"_{name}" for name in ("literal", "ticks", "angle", "bracket", "close", "mark", "address")}
_METHODS |= dict.fromkeys(("escape", "hard", "soft", "entity"), "_literal")
_BREAKS = {"hard": "\n", "soft": " "}


def parse_inline(text: str, theme: Theme, base: str, references: References) -> list[TextRun]:
    """The runs of a paragraph's text; hard breaks are newlines. `base` opens the style everything stands in."""
    if _token(text) is None:
        return [TextRun(text, base)]
    return _Reader(text, references, code_marks=not theme.open("code"), links=theme.links).runs(theme, base)


def cut_inline(text: str, references: References) -> int:
    """Where a text may be cut so that its halves, read by themselves, mean the same as the whole; 0 for nowhere."""
    return _Reader(text, references, code_marks=False).safe_cut()


def normal_label(label: str) -> str:
    """A reference's name as it is compared."""
    return " ".join(label.split()).casefold()


def address(target: str) -> str:
    """A link's target as written, as the address it means."""
    text = _escaped(lambda match: match[1] or entity(match[2]), target)
    return "".join(char if char.isascii() else _percent(char) for char in clean_line(text))


def entity(reference: str) -> str:
    """The character an HTML entity names, made harmless; the reference itself when it names none."""
    from html import unescape  # with its table 2 ms to import, and most texts have no entity

    return clean_line(unescape(reference))


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


class _Reader:
    """Reads one text into nodes."""

    def __init__(self, text: str, references: References, *, code_marks: bool, links: bool = True) -> None:
        self._text = text
        self._references = references
        self._code_marks = code_marks
        self._links = links
        self._nodes: list[EmphasisNode] = []
        self._delimiters = Delimiters()
        # Node, delimiters before it, where its text begins, whether it is an image.
        self._brackets: list[tuple[EmphasisNode, int, int, bool]] = []
        self._inert = 0  # brackets below this index can no longer be links: a link holds no link
        self._closing: dict[int, list[int]] | None = None
        self._undecided: int | None = None  # the first place where more text could still make something of a mark

    def runs(self, theme: Theme, base: str) -> list[TextRun]:
        self._read()
        return _styled(self._nodes, theme, base)

    def safe_cut(self) -> int:
        """The last blank outside of everything that is open or may still be closed; 0 when there is none."""
        self._read()
        opened = [self._delimiters.first_open(), self._undecided, *(bracket[0].at for bracket in self._brackets[:1])]
        barrier = min((at for at in opened if at is not None), default=len(self._text))
        depth = cut = 0
        for node in self._nodes:
            depth -= node.closes
            if not depth and node.plain and node.at < barrier:
                cut = self._text.rfind(" ", node.at, min(node.at + len(node.text), barrier)) + 1 or cut
            depth += len(node.opens) - node.closing
        return cut

    def _read(self) -> None:
        text, at = self._text, 0
        while (match := _token(text, at)) is not None:
            if match.start() > at:
                self._add(text[at : match.start()], at).plain = True
            at = getattr(self, _METHODS[match.lastgroup or ""])(match)
        self._add(text[at:], at).plain = True
        self._delimiters.pair(0)

    def _add(self, text: str, at: int) -> EmphasisNode:
        node = EmphasisNode(text, at)
        self._nodes.append(node)
        return node

    def _leave_undecided(self, at: int) -> None:
        if self._undecided is None:
            self._undecided = at

    def _literal(self, match: re.Match[str]) -> int:
        """What stands for other characters: an escape, a hard or a soft break, an entity."""
        kind = match.lastgroup or ""
        text = _BREAKS.get(kind) or (match[0][1] if kind == "escape" else entity(match[0]))
        self._add(text, match.start())
        return match.end()

    def _ticks(self, match: re.Match[str]) -> int:
        """A code span ends at the next run of as many backticks; without one they are text."""
        size, begin = len(match[0]), match.end()
        if self._closing is None:
            self._closing = {}
            for run in _ticks(self._text):
                self._closing.setdefault(len(run[0]), []).append(run.start())
        places = self._closing.get(size, [])
        while places and places[0] < begin:
            places.pop(0)
        if not places:
            self._add(match[0], match.start())
            self._leave_undecided(match.start())
            return begin
        code = self._text[begin : places[0]].replace("\n", " ")
        if code.startswith(" ") and code.endswith(" ") and code.strip(" "):
            code = code[1:-1]
        self._add(f"`{code}`" if self._code_marks else code, match.start()).role = "code"
        return places[0] + size

    def _angle(self, match: re.Match[str]) -> int:
        text, at = self._text, match.start()
        if (found := _autolink(text, at) or _email(text, at)) is not None:
            url = found[1] if ":" in found[1] else f"mailto:{found[1]}"
            self._linked(found[1], at, address(url))
            return found.end()
        if (found := _html(text, at)) is not None:
            self._add("\n" if _break(found[0]) else found[0].replace("\n", " "), at)
            return found.end()
        self._add("<", at)
        self._leave_undecided(at)
        return match.end()

    def _address(self, match: re.Match[str]) -> int:
        """A bare address, without the punctuation of the sentence it stands in."""
        found, before = match[0], self._text[match.start() - 1 : match.start()]
        if before.isascii() and (before.isalnum() or before in ("/", "_", "@")):
            self._add(found[0], match.start())
            return match.start() + 1
        if self._brackets:
            found = found.partition("](")[0]  # it is the text of a link
        while (
            found[-1] in "?!.,:;*_~'\""
            or (found[-1] == ")" and found.count(")") > found.count("("))
            or found[-1] == "]"
        ):
            found = found[:-1]
        if len(found.partition("://")[2] or found.partition("www.")[2]) < 2:
            self._add(match[0][0], match.start())
            return match.start() + 1
        self._linked(found, match.start(), address(found if "://" in found else f"http://{found}"))
        return match.start() + len(found)

    def _linked(self, text: str, at: int, url: str) -> None:
        node = self._add(text, at)
        node.role, node.url = "link", url

    def _mark(self, match: re.Match[str]) -> int:
        start, end = match.span()
        node = delimiter(match[0], start, self._text[start - 1 : start], self._text[end : end + 1])
        self._nodes.append(node)
        self._delimiters.add(node)
        return end

    def _bracket(self, match: re.Match[str]) -> int:
        node = self._add(match[0], match.start())
        self._brackets.append((node, len(self._delimiters), match.end(), match[0] == "!["))
        return match.end()

    def _close(self, match: re.Match[str]) -> int:
        if not self._brackets:
            self._add("]", match.start())
            return match.end()
        node, delimiters, begin, image = self._brackets.pop()
        target = None
        if image or len(self._brackets) >= self._inert:
            target = self._target(begin, match.start(), match.end())
        self._inert = min(self._inert, len(self._brackets))
        if target is None:
            self._add("]", match.start())
            if self._text[match.end() : match.end() + 1] in ("", "(", "["):
                self._leave_undecided(node.at)
            return match.end()
        url, end = target
        self._delimiters.pair(delimiters)
        self._delimiters.drop(delimiters)
        if image:
            node.text, node.opens = "", (("image_fallback", url),)
            self._nodes.insert(self._nodes.index(node) + 1, EmphasisNode("[", node.at))
            self._add("]", match.start()).closing = 1
            if not self._links:
                self._add(_shown_target(url, "", links=False), match.start()).role = "link_url"
        else:
            self._inert = len(self._brackets)
            node.text, node.opens = "", (("link", url),)
            target_text = _shown_target(url, self._text[begin : match.start()], links=self._links)
            shown = self._add(target_text, match.start())
            shown.closes, shown.role = 1, "link_url"
        return end

    def _target(self, begin: int, end: int, after: int) -> tuple[str, int] | None:
        """What a bracketed text links to, and where the link ends."""
        if (found := _inline_target(self._text, after)) is not None:
            return address(found["angled"] if found["angled"] is not None else found["bare"]), found.end()
        if not self._references:
            return None
        label = _label(self._text, after)
        name = label[1] if label is not None and label[1].strip() else self._text[begin:end]
        url = self._references.get(normal_label(name))
        if url is None:
            return None
        return url, label.end() if label is not None else after


def _shown_target(url: str, text: str, *, links: bool) -> str:
    """What follows a link that the terminal cannot open: its target, where the text is not the target."""
    if not url or url in (text, f"mailto:{text}") or url.startswith("#") or (links and link(url, "x") != "x"):
        return ""
    return f" ({url})"


def _styled(nodes: list[EmphasisNode], theme: Theme, base: str) -> list[TextRun]:
    """The nodes' text, each in what is open around it; neighbours that look the same are one run."""
    runs: list[TextRun] = []
    around: list[tuple[str, str]] = [(base, "")]
    for node in nodes:
        del around[len(around) - node.closes :]
        style, url = around[-1]
        if node.role:
            style, url = style + theme.open(node.role), url or node.url
        if node.text:
            if runs and runs[-1].style == style and runs[-1].url == url:
                runs[-1] = TextRun(runs[-1].text + node.text, style, url)
            else:
                runs.append(TextRun(node.text, style, url))
        del around[len(around) - node.closing :]
        for role, target in node.opens:
            style, url = around[-1]
            around.append((style + theme.open(role), target or url))
    return runs
