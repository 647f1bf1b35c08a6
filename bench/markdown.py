"""Streaming markdown: CPU of the component alone, with a frame for every piece, as the console asks for them."""

import time
from collections.abc import Iterator

from bench.row import Row
from sightline.tty.components._markdown import Markdown
from sightline.tty.theme._theme import Theme

_ROLES = (
    "heading",
    "strong",
    "emphasis",
    "code",
    "link",
    "list_marker",
    "syntax_keyword",
    "syntax_string",
    "syntax_comment",
)
_LOOK = Theme({role: f"\x1b[38;5;{index + 1}m" for index, role in enumerate(_ROLES)})
_SECTION = """## Section {n}: what changed

The **scheduler** now batches wake-ups, so a burst of `{n}` events costs one pass; see [the notes](https://example.org/{n}).
It reads *everything* that is ready first, then sorts by deadline, and only then runs, which keeps the order stable.

- first point about `module_{n}` with a few more words
- second point, which is long enough that it wraps around the end of a row of one hundred columns at least once
  1. nested step {n}
  2. another step with **weight**

```python
def handler_{n}(event: Event, *, retries: int = 3) -> Result:
    \"\"\"Handle one event.\"\"\"
    for attempt in range(retries):
        if event.kind == "message":  # the usual case
            return process(event.payload, attempt)
    raise Failure(f"gave up on {{event.id}} after {{retries}}")
```

| name | before | after |
|:-----|-------:|------:|
| alpha_{n} | 12.5 ms | 3.1 ms |
| beta_{n} | 120 ms | 14 ms |

> Note {n}: the numbers were taken on an idle machine.

"""


def rows() -> Iterator[Row]:
    mixed = "".join(_SECTION.format(n=n) for n in range(10**6 // len(_SECTION)))[:200_000]
    total, _ = _stream(mixed, 2000)
    yield Row("200 KB of markdown in 2,000 pieces, CPU", 600, total, "ms")
    for name, text in _long_blocks().items():
        total, worst = _stream(text, 300)
        yield Row(f"30 KB {name} in 300 pieces, CPU", 600, total, "ms")
        yield Row(f"30 KB {name} in 300 pieces, worst frame", 4000, worst * 1000, "µs")


def _long_blocks() -> dict[str, str]:
    code = "".join(f'    value_{n} = compute("{n}", depth={n}, scale=1.5)  # step {n}\n' for n in range(600))
    items = "".join(f"- item {n} says **something** about `thing_{n}`, at some length\n" for n in range(600))
    table = "".join(f"| row {n} | `value_{n}` | some **text** in a cell |\n" for n in range(700))
    return {
        "code fence": ("```python\n" + code)[:30_000],
        "list": items[:30_000],
        "loose list": items.replace("\n", "\n\n")[:30_000],
        "table": ("| a | b | c |\n|---|---|---|\n" + table)[:30_000],
        "fence in list in quote": ("> - ```python\n" + code.replace("    value", ">   value"))[:30_000],
        "paragraph": ("Some *words* and `code` without a line's end, and more of them. " * 500)[:30_000],
        "wide paragraph": ("終わりのない段落には**強調**と`コード`がある。" * 2000)[:30_000],
        "word": "x" * 30_000,
    }


def _stream(text: str, pieces: int) -> tuple[float, float]:
    """Milliseconds of CPU in all and of the worst frame. The engine takes rows as they settle, as it does here."""
    size = -(-len(text) // pieces)
    markdown = Markdown(theme=_LOOK)
    begun = last = time.process_time()
    worst = 0.0
    for at in range(0, len(text), size):
        markdown.append(text[at : at + size])
        markdown.render(100)
        markdown.release(max(0, (markdown.live_from() or 0) - 50))
        now = time.process_time()
        worst, last = max(worst, now - last), now
    markdown.finish()
    markdown.render(100)
    return (time.process_time() - begun) * 1000, worst * 1000
