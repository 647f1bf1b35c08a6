"""Texts: what was read, a page as markdown, a resource, a file that was written whole, a picture."""

from pathlib import PurePath
from typing import Any

from sightline.events import CodeFact, ImageFact, ListingFact, MarkdownFact, ReadFact, ResourceFact, ui_fact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Component
from sightline.tty.components import Code, ImageComponent, Markdown
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._output import size_words
from sightline.views.console.shapes._shape import (
    PATHS,
    Shape,
    ShapeBody,
    displayed,
    plural,
    record,
    text_in,
)

_WRITTEN = ("content", "contents", "file_text", "text")
_PICTURE_ROWS = 12


class CodeShape(Shape):
    """Text of a file, in the colours of its language."""

    folded, unfolded = 10, 200

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, text: str) -> None:
        super().__init__(call, drawing)
        self._text = text
        self._code: Code | None = None

    @property
    def suffix(self) -> str:
        return plural(self._text.count("\n") + (not self._text.endswith("\n")), "line") if self._text else ""

    @property
    def source(self) -> str:
        return self._text

    def body(self, width: int) -> ShapeBody:
        if self.call.is_error and self.call.content:
            return self.text_rows(self.call.content, width, "error")
        return self.beginning(self._text, width, lambda text: self._colour(text).render(width))

    def _colour(self, text: str) -> Code:
        if self._code is None or self._code.text != text:
            self._code = Code(text, language_of(self.title), theme=self.drawing.theme)
            self._code.finish()
        return self._code


class ReadShape(CodeShape):
    """What was read is known to the person by its name; its lines are shown when more of everything is."""

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


class MarkdownShape(Shape):
    folded, unfolded = 10, 200

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, text: str) -> None:
        super().__init__(call, drawing)
        self._text = text
        self._markdown: Markdown | None = None

    @property
    def source(self) -> str:
        return self._text

    def body(self, width: int) -> ShapeBody:
        return self.beginning(self._text, width, lambda text: self._laid_out(text).render(width))

    def _laid_out(self, text: str) -> Markdown:
        if self._markdown is None or self._markdown.text != text:
            self._markdown = Markdown(text, theme=self.drawing.theme)
            self._markdown.finish()
        return self._markdown


class ResourceShape(Shape):
    """Something that is not a file: what it says."""

    folded, unfolded = 8, 200

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: ResourceFact) -> None:
        super().__init__(call, drawing)
        self._fact = fact

    def body(self, width: int) -> ShapeBody:
        return self.text_rows(displayed(self._fact, self.call), width)


class ImageShape(Shape):
    """The picture where the terminal can show it and its bytes are at hand; else what it is."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions, fact: ImageFact) -> None:
        super().__init__(call, drawing)
        self._fact = fact
        self._picture: Component | None = None
        self._asked = self._missing = False

    @property
    def suffix(self) -> str:
        size = self._fact.bytes
        parts = [clean_line(self._fact.media_type), size_words(size) if size else ""]
        return " · ".join([part for part in parts if part])

    def body(self, width: int) -> ShapeBody:
        self._ask()
        if self._picture is not None:
            return ShapeBody(self._picture.render(width))
        return self.text_rows(self.call.content or "", width, "image_fallback")

    @property
    def picture(self) -> Component | None:
        return self._picture

    def is_awaited(self) -> bool:
        """Its bytes are on their way."""
        self._ask()
        return self._asked and self._picture is None and not self._missing

    def _ask(self) -> None:
        fetch = self.drawing.fetch
        if fetch is None or self._asked or self.drawing.linear or self.call.content is None:
            return
        self._asked = True
        kind = self._fact.media_type.rpartition("/")[2] or "png"
        fetch(f"{self.call.id}-image0.{kind}", self._got)

    def _got(self, data: bytes | None) -> None:
        if data is None:
            self._missing = True
            return
        images = self.drawing.images
        self._picture = ImageComponent(
            data, self.title, images=images, max_rows=_PICTURE_ROWS, theme=self.drawing.theme
        )
        if images.on_change is not None:
            images.on_change(self._picture)


def language_of(path: str) -> str:
    """What a file's name says about its language."""
    name = PurePath(path.partition(":")[0] or path)
    return name.suffix.removeprefix(".").lower()


def written_text(args: Any) -> str:
    """The text of a file that arguments say is to be written."""
    given = record(args)
    return text_in(given, *_WRITTEN) if text_in(given, *PATHS) else ""


def document(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    match ui_fact(call.details):
        case ReadFact() | ListingFact() as fact:
            return ReadShape(call, drawing, fact)
        case CodeFact() as fact:
            return CodeShape(call, drawing, fact.code or displayed(fact, call))
        case MarkdownFact() as fact:
            return MarkdownShape(call, drawing, fact.markdown or displayed(fact, call))
        case ResourceFact() as fact:
            return ResourceShape(call, drawing, fact)
        case ImageFact() as fact:
            return ImageShape(call, drawing, fact)
    return None


def written(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """Arguments that are a whole file."""
    text = written_text(call.args)
    return CodeShape(call, drawing, text) if text else None
