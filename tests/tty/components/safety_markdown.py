"""Markdown, code, table and diff, each built from an arbitrary string in the places where strings go."""

from collections.abc import Callable

from sightline.tty._component import Component
from sightline.tty.components._code import Code
from sightline.tty.components._diff import Diff
from sightline.tty.components._markdown import Markdown
from sightline.tty.components._table import Table
from tests.tty.components.role_marks import MARKS


def _finished(text: str) -> Component:
    markdown = Markdown(text, theme=MARKS)
    markdown.finish()
    return markdown


def _in_pieces(text: str) -> Component:
    markdown = Markdown(theme=MARKS)
    for char in text[:100]:
        markdown.append(char)
        markdown.render(30)
    markdown.append(text[100:])
    return markdown


CASES: dict[str, Callable[[str], Component]] = {
    "markdown": _finished,
    "markdown in pieces": _in_pieces,
    "markdown list": lambda text: _finished(f"- {text}\n  > {text}"),
    "markdown table": lambda text: _finished(f"| a | {text} |\n|---|---|\n| {text} | b |"),
    "markdown fence": lambda text: _finished(f"```{text}\n{text}\n```"),
    "markdown link": lambda text: _finished(f"[{text}]({text}) ![{text}](<{text}>) <https://{text}> https://{text}"),
    "markdown reference": lambda text: _finished(f"[a]: {text}\n\n[a] [{text}]"),
    "code": lambda text: Code(text, "python", line_numbers=True, theme=MARKS),
    "code of that language": lambda text: Code(text, text, theme=MARKS),
    "table": lambda text: Table([text, "b"], [[text, text], ["c"]], ["right"], theme=MARKS),
    "diff": lambda text: Diff(text, theme=MARKS),
    "diff of lines": lambda text: Diff(f"--- {text}\n+++ {text}\n@@ -1 +1 @@ {text}\n-{text}\n+x{text}", theme=MARKS),
}
