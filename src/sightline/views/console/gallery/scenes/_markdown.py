"""Markdown."""

from collections.abc import Iterator

from sightline.tty import Component
from sightline.tty.components import Markdown
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_WHOLE = """\
# Streaming markdown

Words with **weight**, *emphasis*, `code`, ~~second thoughts~~ and a [link](https://example.org/page).

## Lists

1. first
2. second, which is long enough that it has to wrap at the edge of an ordinary terminal of eighty columns
   - nested
     - deeper

- [x] done
- [ ] to do

> A quote, with *emphasis*
> over two lines.

| name | size | what |
| :--- | ---: | :--- |
| `ledger` | 97 | which rows are history |
| `painter` | 228 | rows to bytes |

```python
def greet(name: str) -> str:
    return f"hello, {name}"  # a comment
```

---

### The end
"""
_TABLE = _WHOLE[_WHOLE.index("| name") : _WHOLE.index("`painter`") + 5]
_FENCE = _WHOLE[_WHOLE.index("```") : _WHOLE.index("return") + 10]
_CHUNK = 7
_PACE = 0.02


def _whole(stage: Stage, text: str) -> Markdown:
    markdown = Markdown(text, theme=stage.theme)
    markdown.finish()
    return markdown


def _streamed(stage: Stage, markdown: Markdown) -> Component:
    """Pieces come one after the other, as from a model."""

    def more(at: int) -> None:
        markdown.append(_WHOLE[at : at + _CHUNK])
        stage.request_render(markdown)
        if at + _CHUNK < len(_WHOLE):
            stage.call_later(_PACE, lambda: more(at + _CHUNK))
        else:
            markdown.finish()
            stage.finish(markdown)

    stage.call_later(_PACE, lambda: more(0))
    return markdown


@scene("markdown", "what a model writes, while it writes it")
def states(stage: Stage) -> Iterator[SceneState]:
    yield SceneState("every element", _whole(stage, _WHOLE))
    yield SceneState("cut in the middle of a table", Markdown(_TABLE, theme=stage.theme))
    yield SceneState("cut in the middle of a code block", Markdown(_FENCE, theme=stage.theme))
    yield SceneState("emphasis that is not closed yet", Markdown("Words with **wei", theme=stage.theme))
    if stage.moving:
        yield SceneState(
            "streamed: rows that are settled never change", _streamed(stage, Markdown(theme=stage.theme)), live=True
        )
