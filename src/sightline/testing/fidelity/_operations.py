"""What happens in a sequence, as data: an operation is an action and the numbers that choose its place and size.

The numbers are resolved when the operation is applied (`pick` is a share of what there is then), so that a sequence
stays valid when operations are taken out of it.
"""

import random
from collections.abc import Callable

import msgspec

from sightline.testing.fidelity._parts import RAW, Block, Popup
from sightline.testing.fidelity._scene import Scene
from sightline.tty.components._image import ImageComponent
from sightline.tty.components._markdown import Markdown
from sightline.tty.frame._overlays import Anchor, Overlay


class Operation(msgspec.Struct, frozen=True, omit_defaults=True):
    do: str
    seed: int
    """Names the text it makes, and seeds what else it chooses."""
    pick: float = 0.0
    size: int = 1
    frames: int = 1
    """How many frames are drawn after it; none when the next operation joins it."""


_WORDS = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron",
    "inlet", "jetty", "kayak", "larch", "maple", "north", "ocean", "prairie",
)  # fmt: skip
_STYLES = ("", "", "", "31", "1;32", "44", "48;5;22", "3;38;2;10;200;30")
_CLUSTERS = ("漢字", "テスト", "é", "e\u0301", "🇩🇪", "👩\u200d👩\u200d👧", "❤\ufe0f", "ñandú", "한글", "العَرَبِيَّة", "ไทย")
_HOSTILE = (
    "x" * 300,
    "over\x1b[2Jclear",
    "home\x1b[Hhome",
    "up\x1b[3Aup\x1b[20Bdown",
    "\x1b[31mleft open",
    "osc\x1b]0;title\x07after",
    "tab\tand\rreturn\nline",
    "c1\x9b2Jx\x90q\x9cz",
    "half\x1b[38;5",
    "漢" * 150,
    "bidi\u202eabc",
    "link \x1b]8;;https://example.com\x1b\\there\x1b]8;;\x1b\\ end",
    "\x1b[?1049halt",
    "🇩🇪" * 80,
    "e" + "\u0301" * 30 + "z",
)


def line(seed: int, index: int) -> str:
    """A line of text that occurs nowhere else."""
    rng = random.Random(seed * 1009 + index)
    words = [rng.choice(_WORDS) for _ in range(rng.choice((0, 1, 3, 6, 14)))]
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(_CLUSTERS))
    style = rng.choice(_STYLES)
    text = " ".join([f"{seed:x}n{index}", *words])
    return f"{style}\0{text}" if style else text


def lines(operation: Operation) -> list[str]:
    return [line(operation.seed, index) for index in range(operation.size)]


def _texts(scene: Scene, *, live: bool) -> list[Block]:
    return [block for block in (scene.live if live else scene.blocks) if isinstance(block, Block)]


def _chosen(blocks: list[Block], pick: float) -> Block | None:
    return blocks[int(pick * len(blocks))] if blocks else None


def append(scene: Scene, operation: Operation) -> None:
    """A finished block at the end."""
    scene.insert(len(scene.blocks), Block(lines(operation)), live=False)


def begin(scene: Scene, operation: Operation) -> None:
    """A block at the end that continues to change."""
    if len(scene.live) < 3:
        scene.insert(len(scene.blocks), Block(lines(operation)), live=True)


def grow(scene: Scene, operation: Operation) -> None:
    """Rows more in a live block: the last one mostly."""
    block = _chosen(_texts(scene, live=True), operation.pick)
    if block is not None:
        block.lines += lines(operation)
        scene.changed(block, scoped=operation.seed % 3 == 0)


def stream(scene: Scene, operation: Operation) -> None:
    """Words more at the end of a live block."""
    block = _chosen(_texts(scene, live=True), 0.99)
    if block is not None and block.lines and not block.lines[-1].startswith(RAW):
        block.lines[-1] += f" {operation.seed:x}" * operation.size
        scene.changed(block, scoped=operation.seed % 2 == 0)


def rewrite_tail(scene: Scene, operation: Operation) -> None:
    """The last lines of a live block become others, perhaps fewer."""
    block = _chosen(_texts(scene, live=True), operation.pick)
    if block is not None:
        del block.lines[-operation.size :]
        block.lines += lines(operation)[: operation.seed % 4]
        scene.changed(block, scoped=False)


def tick(scene: Scene, operation: Operation) -> None:
    """One row of the chrome changes."""
    scene.chrome.tick += 1
    scene.changed(scene.chrome, scoped=operation.seed % 4 != 0)


def tick_block(scene: Scene, operation: Operation) -> None:
    """One row in a live block changes."""
    block = _chosen(_texts(scene, live=True), operation.pick)
    if block is not None and block.lines:
        at = operation.seed % len(block.lines)
        block.lines[at] = f"tick {operation.seed:x}"
        scene.changed(block, scoped=False)


def insert_in_live(scene: Scene, operation: Operation) -> None:
    """Rows come in above others in a live block."""
    block = _chosen(_texts(scene, live=True), operation.pick)
    if block is not None:
        at = operation.seed % (len(block.lines) + 1)
        block.lines[at:at] = lines(operation)
        scene.changed(block, scoped=False)


def insert_block(scene: Scene, operation: Operation) -> None:
    """A block comes in before others, which may be history."""
    scene.insert(int(operation.pick * (len(scene.blocks) + 1)), Block(lines(operation)), live=False)


def remove_block(scene: Scene, operation: Operation) -> None:
    if scene.blocks:
        scene.remove(scene.blocks[int(operation.pick * len(scene.blocks))])


def finish(scene: Scene, operation: Operation) -> None:
    if scene.live:
        scene.finish(scene.live[int(operation.pick * len(scene.live))])


def finish_all(scene: Scene, operation: Operation) -> None:
    for block in list(scene.live):
        scene.finish(block)


def promise(scene: Scene, operation: Operation) -> None:
    """The seam promises that some rows of what is live will stay."""
    if scene.live and scene.layout == "seam":
        scene.seam.safe = max(scene.seam.safe, operation.size)
        scene.display.request_render()


def break_promise(scene: Scene, operation: Operation) -> None:
    """A block that was final changes: a row edited, removed, or put in."""
    block = _chosen(_texts(scene, live=False), operation.pick)
    if block is None or not block.lines or (scene.rewraps and scene.layout == "transcript"):
        return
    at = operation.seed % len(block.lines)
    match operation.seed % 3:
        case 0:
            block.lines[at] = f"edited {operation.seed:x}"
        case 1:
            del block.lines[at : at + operation.size]
        case _:
            block.lines[at:at] = lines(operation)
    block.invalidate()
    scene.changed(block, scoped=False)


def shrink(scene: Scene, operation: Operation) -> None:
    """Many blocks go away at once."""
    for block in scene.blocks[int(operation.pick * len(scene.blocks)) :]:
        scene.remove(block)


def hostile(scene: Scene, operation: Operation) -> None:
    """A block gives rows no component should give."""
    if scene.rewraps:
        return
    rows = [RAW + f"{operation.seed:x} " + _HOSTILE[(operation.seed + index) % len(_HOSTILE)] for index in range(2)]
    scene.insert(len(scene.blocks), Block(rows), live=operation.seed % 2 == 0 and len(scene.live) < 3)


def flood(scene: Scene, operation: Operation) -> None:
    """Many times the screen in one frame."""
    many = Operation("append", operation.seed, size=operation.size * 40)
    scene.insert(len(scene.blocks), Block(lines(many)), live=operation.seed % 3 == 0 and len(scene.live) < 3)


_MARKDOWN = (
    "## {tag} heading\n\n",
    "{tag} plain words with **strong** and `code` and [a link](https://example.com/{tag}) in them.\n\n",
    "- {tag} one\n- {tag} two\n  1. {tag} inner\n\n",
    "```python\nvalue = '{tag}'\n\nprint(value)\n```\n\n",
    "> {tag} quoted words\n> that go on\n\n",
    "{tag} words without an end ",
    "---\n\n",
)
_WITH_TABLES = (*_MARKDOWN, "| {tag} | name |\n|---|---:|\n| one {tag} | 1 |\n| two | {tag} |\n\n")


def begin_markdown(scene: Scene, operation: Operation) -> None:
    """A message that is still being written."""
    if scene.layout == "transcript" and len(scene.live) < 3:
        scene.insert(len(scene.blocks), Markdown(_markdown(scene, operation)), live=True)


def stream_markdown(scene: Scene, operation: Operation) -> None:
    """More of a message, cut anywhere."""
    for block in scene.live:
        if isinstance(block, Markdown):
            text = _markdown(scene, operation)
            block.append(text[: 1 + operation.seed % len(text)])
            scene.changed(block, scoped=operation.seed % 2 == 0)


def _markdown(scene: Scene, operation: Operation) -> str:
    rng = random.Random(operation.seed)
    # A table cuts what does not fit: its text is not the same at every width.
    parts = _MARKDOWN if scene.rewraps else _WITH_TABLES
    return "".join(rng.choice(parts) for _ in range(operation.size)).replace("{tag}", f"{operation.seed:x}")


def show_image(scene: Scene, operation: Operation) -> None:
    """A picture; those before it may have to give up their pixels."""
    if scene.rewraps:
        return  # the words it has instead are cut at the width
    header = (operation.seed % 300 + 20).to_bytes(4, "big") + (operation.seed % 170 + 20).to_bytes(4, "big")
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + header + b"\x08\x06"
    scene.insert(
        len(scene.blocks), ImageComponent(data, f"{operation.seed:x}", images=scene.display.images), live=False
    )


def edit(scene: Scene, operation: Operation) -> None:
    """The editor's text grows, shrinks, or is typed into."""
    chrome = scene.chrome
    match operation.seed % 4:
        case 0:
            chrome.text = chrome.text + [f"typed {operation.seed:x}"] * operation.size
        case 1:
            chrome.text = chrome.text[: max(1, len(chrome.text) - operation.size)]
        case _:
            chrome.text = [*chrome.text[:-1], chrome.text[-1] + "y"]
    scene.changed(chrome, scoped=operation.seed % 3 == 0)


def widgets(scene: Scene, operation: Operation) -> None:
    scene.chrome.widgets = operation.seed % 5
    scene.changed(scene.chrome, scoped=False)


def move_cursor(scene: Scene, operation: Operation) -> None:
    scene.chrome.cursor = operation.seed % 3, operation.seed % 23
    scene.changed(scene.chrome, scoped=True)


def focus(scene: Scene, operation: Operation) -> None:
    """The focus, and the cursor with it, goes away or comes back."""
    if not scene.popups:
        scene.display.set_focus(None if scene.chrome.focused else scene.chrome)
        scene.display.request_render()


_ANCHORS: tuple[Anchor, ...] = (
    "center", "top-left", "top-center", "top-right", "left", "right", "bottom-left", "bottom-center", "bottom-right",
)  # fmt: skip


def open_overlay(scene: Scene, operation: Operation) -> None:
    if len(scene.popups) >= 3:
        return
    rng = random.Random(operation.seed)
    options = Overlay(
        anchor=rng.choice(_ANCHORS),
        width=rng.choice((None, 10, 17, "50%", "80%")),
        max_height=rng.choice((None, 2, 5, "50%")),
        margin=rng.choice((0, 0, 0, 1, 2)),
        visible=rng.choice((None, None, lambda columns, rows: columns >= 40 and rows >= 6)),
    )
    scene.open(Popup(operation.size, f"popup {operation.seed:x}"), options)


def close_overlay(scene: Scene, operation: Operation) -> None:
    if scene.popups:
        scene.close(int(operation.pick * len(scene.popups)))


def hide_overlay(scene: Scene, operation: Operation) -> None:
    if scene.popups:
        handle, _ = scene.popups[int(operation.pick * len(scene.popups))]
        handle.set_hidden(not handle.hidden)


def change_overlay(scene: Scene, operation: Operation) -> None:
    if scene.popups:
        scene.popups[-1][1].count = operation.size
        scene.display.request_render()


def hold(scene: Scene, operation: Operation) -> None:
    """What comes from now on is kept from history, for there is something to be filled in before it."""
    if scene.layout == "transcript" and scene.transcript.held is None:
        scene.transcript.hold()
        flood(scene, operation)


def fill(scene: Scene, operation: Operation) -> None:
    """Blocks come in before those that are held."""
    if scene.transcript.held is not None:
        scene.fill([Block(lines(Operation("fill", operation.seed + index, size=3))) for index in range(operation.size)])


def release_hold(scene: Scene, operation: Operation) -> None:
    scene.transcript.release_hold()
    scene.display.request_render()


def redraw(scene: Scene, operation: Operation) -> None:
    """A frame is requested that writes the window whole."""
    scene.display.request_render(force=True)


ON_SCENE: dict[str, tuple[int, Callable[[Scene, Operation], None]]] = {
    "append": (12, append),
    "begin": (8, begin),
    "grow": (12, grow),
    "stream": (12, stream),
    "rewrite_tail": (6, rewrite_tail),
    "tick": (8, tick),
    "tick_block": (4, tick_block),
    "insert_in_live": (4, insert_in_live),
    "insert_block": (2, insert_block),
    "remove_block": (2, remove_block),
    "finish": (6, finish),
    "finish_all": (3, finish_all),
    "promise": (3, promise),
    "break_promise": (3, break_promise),
    "shrink": (1, shrink),
    "hostile": (2, hostile),
    "flood": (1, flood),
    "begin_markdown": (3, begin_markdown),
    "stream_markdown": (8, stream_markdown),
    "show_image": (2, show_image),
    "edit": (6, edit),
    "widgets": (3, widgets),
    "move_cursor": (3, move_cursor),
    "focus": (1, focus),
    "open_overlay": (3, open_overlay),
    "close_overlay": (3, close_overlay),
    "hide_overlay": (1, hide_overlay),
    "change_overlay": (1, change_overlay),
    "hold": (2, hold),
    "fill": (8, fill),
    "release_hold": (2, release_hold),
    "redraw": (1, redraw),
}
"""Weight and effect of what happens inside the program."""

ON_TERMINAL: dict[str, int] = {
    "resize": 4,
    "resize_storm": 1,
    "reset": 1,
    "replace_session": 1,
    "suspend": 2,
    "scroll_reader": 3,
    "zoom": 2,
    "split": 2,
    "attach": 1,
}
"""Weight of what happens to the terminal, or is requested by the user."""
