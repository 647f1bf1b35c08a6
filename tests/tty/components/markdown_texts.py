"""Texts for the tests of the markdown component: one of each construct, and what hypothesis makes of their pieces."""

from hypothesis import strategies as st

TEXTS = {
    "heading": "# One\ntext\n## Two ##\n\n###\n",
    "setext": "One\ntwo\n===\nThree\n---\n\n---\n",
    "lazy": "> quote\nlazy\n\n- item\nlazy\n  - deeper\n lazy\n",
    "loose list": "- one\n\n  more\n\n- two\n- three\n\n\ntext\n",
    "nested list": "1. one\n   - a\n     - b\n       7) c\n2. two\n\n   text\n\n       code\n",
    "tasks": "- [ ] open\n- [x] done\n  - [X] also\n- [ ]\n",
    "quotes": "> a\n> > b\n>\n> - c\n>   d\n> ```\n> code\n",
    "fence": "```python\ndef f():\n    '''doc\n    more'''\n    return 1\n```\ntext\n~~~~\n```\n~~~\n~~~~",
    "open fence": "text\n```js\nlet a = `one\ntwo`\n",
    "fence in list": "1. a\n\n   ```sh\n   ls # x\n\n   pwd\n   ```\n2. b\n",
    "indented": "text\n\n    code\n\n\n    more\n\n  text\n",
    "table": "a | b\n--|:-:\n1 | 2\n`x\\|y` | z | rest\none\n\nafter\n",
    "long table": "| a | b |\n|---|--:|\n" + "".join(f"| row {n} | {n * n} |\n" for n in range(30)) + "end\n",
    "table below text": "some text\nh | i\n--- | ---\n1 | 2\n> quote\n",
    "wide table": "|" + " column |" * 9 + "\n|" + "---|" * 9 + "\n|" + " some value |" * 9 + "\n",
    "references": (
        "[a] and [b][a]\n\n[a]: https://a.example 'x'\n[b c]: <https://b.example>\n"
        "rest [a], [t][B  C], [a][]\n\n[b c]\n"
    ),
    "inline": (
        "*a **b** c* `x ``y` _d_ **e*f** ~~g~~ [h *i*](j.md) ![k](l) <m@n.o> https://p.q/r). &amp; \\* a  \n"
        "b\\\nc <br> d\n"
    ),
    "html": "<div>\n*a*\n\n<!-- b\n\nc --> d\n<x-y z='1'>\ntext\n",
    "rules": "a\n\n***\n- - -\n_ _ _\n* a\n* * *\n",
    "empty items": "-\n-\n  a\n-\n\n  b\n1.\n2. c\n",
    "wide characters": (
        "# 見出し\n\n日本語のとても長い段落。**強調**と`コード`を含む。👩‍👩‍👧‍👦 家族 🇩🇪 旗\n\n"
        "- 項目\n\n| 列 | b |\n|--|--|\n| 値 | 👍🏽 |\n"
    ),
    "one long word": "x" * 500 + " " + "y" * 100 + "\n",
    "one long paragraph": "".join(f"word{n} *em{n}* `code` " for n in range(600)) + "\n\nend\n",
    "one endless line": "lorem ipsum " * 900,
    "one endless line of code": "```\n" + "abc 123 " * 1300 + "\nnext\n```\n",
    "tabs": "-\ta\n\n\tb\n\n>\tc\n\n\tcode\n",
    "blank": "\n\n   \n",
    "empty": "",
}

_PIECES = [
    "a", "word ", "two words", "\n", "\n", "\n\n", " ", "  ", "    ", "\t", "- ", "* ", "+ ", "1. ", "2) ", "10. ",
    "> ", ">", "# ", "### ", "===", "---", "***", "```", "```py", "~~~", "|", " | ", "|---|", "a | b\n--|--\n",
    "- [ ] ", "[x] ", "*", "**", "_", "__", "~~", "`", "``", "[", "]", "](", "](u)", "![", "[a]: u", "<div>", "<!--",
    "-->", "<b>", "<https://a.b>", "https://c.d", "&amp;", "&#27;", "\\", "  \n", "\\\n", "é", "日本", "👍🏽",
    "\x1b[31m",
    "\x1b]0;t\x07", "\u202e", "def f(x):", "'", '"', '"""', "/*", "*/", "//", "#",
]  # fmt: skip

texts = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=60).map("".join),
    st.lists(st.sampled_from(sorted(TEXTS.values(), key=len)[:20]), max_size=3).map("".join),
)


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    """A text in pieces."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
