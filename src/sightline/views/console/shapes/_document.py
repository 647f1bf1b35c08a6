"""Shapes of texts and pictures: a file that was read or written, a Markdown page, a resource, an image."""

from pathlib import PurePath

from sightline.events import ImageFact, ListingFact, ReadFact, TextFact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Component
from sightline.tty.components import Code, ImageComponent, Markdown
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._output import size_words
from sightline.views.console.shapes._shape import (
    FILE_TEXT,
    PATHS,
    FactShape,
    Shape,
    ShapeBody,
    displayed,
    plural,
    record,
    text_in,
)

_PICTURE_ROWS = 12


class CodeShape(Shape):
    """Text of a file, in the colours of its language."""

    folded, unfolded = 10, 200

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, text: str) -> None:
        super().__init__(call, drawing)
        self._text = text

    @property
    def suffix(self) -> str:
        return plural(self._text.count("\n") + (not self._text.endswith("\n")), "line") if self._text else ""

    @property
    def source(self) -> str:
        return self._text

    def body(self, width: int) -> ShapeBody:
        if self.call.is_error and self.call.content:
            return self.text_rows(self.call.content, width, "error")
        return self.laid_out(
            self._text, width, lambda text: Code(text, language_of(self.title), theme=self.drawing.theme)
        )


class ReadShape(CodeShape):
    """A file that was read: its name, and unfolded its lines."""

    folded, unfolded = 0, 40

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: ReadFact | ListingFact) -> None:
        super().__init__(call, drawing, displayed(fact, call))
        self._fact = fact

    @property
    def title(self) -> str:
        first, last, total = self._fact.first, self._fact.last, self._fact.total
        name = super().title
        whole = first in (None, 0, 1) and (last is None or total is None or last >= total)
        return name if whole or name.endswith(f":{first}-{last}") else f"{name}:{first}-{last}"

    @property
    def suffix(self) -> str:
        total, entries = self._fact.total, self._fact.entries
        if total is not None:
            return plural(total, "line")
        return "" if entries is None else "1 entry" if entries == 1 else f"{entries:,} entries"

    def body(self, width: int) -> ShapeBody:
        return super().body(width) if self.room else ShapeBody()


class MarkdownShape(FactShape[str]):
    folded, unfolded = 10, 200

    @property
    def source(self) -> str:
        return self._fact

    def body(self, width: int) -> ShapeBody:
        return self.laid_out(self._fact, width, lambda text: Markdown(text, theme=self.drawing.theme))


class TextShape(FactShape[TextFact]):
    """The text of a resource, or one that was to be a table and is not."""

    folded, unfolded = 8, 200

    def body(self, width: int) -> ShapeBody:
        return self.text_rows(displayed(self._fact, self.call), width)


class ImageShape(FactShape[ImageFact]):
    """The picture where the terminal can show it and its bytes were read; else a description."""

    picture: Component | None = None
    _requested = _missing = False

    @property
    def suffix(self) -> str:
        size = self._fact.bytes
        parts = [clean_line(self._fact.media_type), size_words(size) if size else ""]
        return " · ".join([part for part in parts if part])

    def body(self, width: int) -> ShapeBody:
        self._fetch()
        if self.picture is not None:
            return ShapeBody(self.picture.render(width))
        return self.text_rows(self.call.content or "", width, "image_fallback")

    def is_awaited(self) -> bool:
        """Whether its bytes are being read."""
        self._fetch()
        return self._requested and self.picture is None and not self._missing

    def _fetch(self) -> None:
        fetch = self.drawing.fetch
        if fetch is None or self._requested or self.drawing.linear or self.call.content is None:
            return
        self._requested = True
        kind = self._fact.media_type.rpartition("/")[2] or "png"
        fetch(f"{self.call.id}-image0.{kind}", self._received)

    def _received(self, data: bytes | None) -> None:
        if data is None:
            self._missing = True
            return
        images = self.drawing.images
        self.picture = ImageComponent(data, self.title, images=images, max_rows=_PICTURE_ROWS, theme=self.drawing.theme)
        if images.on_change is not None:
            images.on_change(self.picture)


def language_of(path: str) -> str:
    """The language a file's suffix stands for."""
    name = PurePath(path.partition(":")[0] or path)
    return name.suffix.removeprefix(".").lower()


def written(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of arguments that hold a whole file."""
    args = record(call.args)
    text = text_in(args, *FILE_TEXT) if text_in(args, *PATHS) else ""
    return CodeShape(call, drawing, text) if text else None
