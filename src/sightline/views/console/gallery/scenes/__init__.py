"""The scenes: one module each, in the order they are shown."""

from sightline.views.console.gallery._scene import Scene
from sightline.views.console.gallery.scenes import (
    _box,
    _code,
    _diff,
    _editor,
    _image,
    _input,
    _keys,
    _loader,
    _markdown,
    _overlay,
    _progress,
    _select,
    _table,
    _tabs,
    _text,
    _theme,
    _transcript,
    _tree,
)

SCENES: tuple[Scene, ...] = (
    _text.states,
    _box.states,
    _markdown.states,
    _code.states,
    _diff.states,
    _table.states,
    _tree.states,
    _select.states,
    _input.states,
    _editor.states,
    _loader.states,
    _progress.states,
    _tabs.states,
    _keys.states,
    _image.states,
    _overlay.states,
    _transcript.states,
    _theme.states,
)
