"""Text, box, tree, loader, progress, tabs, image and key hints, each built from an arbitrary string."""

from sightline.tty._images import ImageStore
from sightline.tty.components._box import Box
from sightline.tty.components._image import ImageComponent
from sightline.tty.components._key_hints import KeyHints
from sightline.tty.components._loader import CancellableLoader, Loader
from sightline.tty.components._progress import ProgressBar
from sightline.tty.components._spacer import Spacer
from sightline.tty.components._tabs import Tabs
from sightline.tty.components._text import TextComponent
from sightline.tty.components._tree import Tree, TreeNode
from sightline.tty.theme._theme import theme_for

THEME = theme_for(dark=True, depth="true")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big") + b"\x08\x06\0\0\0"


class _NoTimer:
    def cancel(self):
        """Nothing to end."""


def _loader(kind, text):
    return kind(text, call_later=lambda delay, then: _NoTimer(), request_render=lambda component: None, theme=THEME)


def _tree(text):
    leaves = [TreeNode(line) for line in text.split("\n", 20)]
    return Tree([TreeNode(text, leaves, expanded=True), *leaves], max_rows=12, theme=THEME)


def _image(protocol, *, placeholders=False):
    images = ImageStore(protocol, placeholders=placeholders, first_number=0x20304)
    return lambda text: ImageComponent(PNG, text, images=images, theme=THEME)


CASES = {
    "text": lambda text: TextComponent(text, theme=THEME),
    "text in a role, padded": lambda text: TextComponent(text, "error", padding_x=2, theme=THEME),
    "text, cut": lambda text: TextComponent(text, "muted", wrap=False, theme=THEME),
    "text without styles": lambda text: TextComponent(text),
    "box": lambda text: Box(TextComponent(text, theme=THEME), title=text, theme=THEME),
    "box on a background": lambda text: Box(
        TextComponent(text, theme=THEME), Spacer(2), border="heavy", padding_y=1, background="selection", theme=THEME
    ),
    "box without border": lambda text: Box(
        TextComponent(text, theme=THEME), border="none", background="selection", theme=THEME
    ),
    "box around an image": lambda text: Box(_image("iterm2")(text), title=text, theme=THEME),
    "tree": _tree,
    "loader": lambda text: _loader(Loader, text),
    "cancellable loader": lambda text: _loader(CancellableLoader, text),
    "progress": lambda text: ProgressBar(3, 7, text, theme=THEME),
    "progress without end": lambda text: ProgressBar(12345, None, text, theme=THEME),
    "tabs": lambda text: Tabs([text, *text.split("\n", 5), "last"], active=1, theme=THEME),
    "key hints": lambda text: KeyHints([("enter", text), (text, "quit")], theme=THEME),
    "image as text": _image("none"),
    "image at the cursor": _image("kitty"),
    "image by placeholders": _image("kitty", placeholders=True),
    "image of bytes that are none": lambda text: ImageComponent(
        text.encode("utf-8", "replace"), text, images=ImageStore("kitty"), theme=THEME
    ),
}
