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
    _text.SCENE,
    _box.SCENE,
    _markdown.SCENE,
    _code.SCENE,
    _diff.SCENE,
    _table.SCENE,
    _tree.SCENE,
    _select.SCENE,
    _input.SCENE,
    _editor.SCENE,
    _loader.SCENE,
    _progress.SCENE,
    _tabs.SCENE,
    _keys.SCENE,
    _image.SCENE,
    _overlay.SCENE,
    _transcript.SCENE,
    _theme.SCENE,
)
