"""The gallery's first screen. Imports nothing but what the first paint may."""

from sightline.views.console.paint._first_paint import FirstPaint, cut, hints_row, open_painted, terminal_size

PROMPT = "› "
TITLE = "Sightline gallery: every component in every state."
PLACEHOLDER = "type a name, or press tab for the next one"
HINTS = (
    ("tab", "next"),
    ("shift+tab", "back"),
    ("enter", "show, try"),
    ("?", "help"),
    ("ctrl+t", "theme"),
    ("q", "quit"),
)
_ROWS = 4


class GalleryPaint(FirstPaint):
    """A title, the prompt, and the keys."""

    sign = PROMPT
    prompt_at = 2
    commands = "q?"

    @property
    def rows(self) -> list[str]:
        columns = self.size[0]
        prompt = PROMPT + (self.text or PLACEHOLDER)
        return [cut(TITLE, columns), "", cut(prompt, columns), hints_row(HINTS, columns)]


def open_gallery() -> int | None:
    """Paint, import and listen at once, then run the gallery. Returns the exit code; None without a terminal to paint
    on."""
    size = terminal_size(_ROWS)
    if size is None:
        return None
    screen = GalleryPaint(size)

    def take_over(before: "list[int | list[bytes | int]]") -> int:
        from sightline.views.console.gallery._browser import browse

        return browse(painted=screen, before=before)

    return open_painted(screen, _load, take_over)


def _load() -> None:
    from sightline.views.console import gallery

    gallery.load()
