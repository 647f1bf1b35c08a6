"""Diff."""

from collections.abc import Iterator

from sightline.tty.components import Diff
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_CHANGE = """\
--- a/src/ledger.py
+++ b/src/ledger.py
@@ -41,3 +41,4 @@ def step(self, length, boundary):
         start = self.committed
-        self.top = max(start, length - 24)
+        self.top = max(start, length - height)
+        self.seen = True
         return start
"""
_NEW = """\
--- /dev/null
+++ b/notes.md
@@ -0,0 +1,2 @@
+# Notes
+日本語 and a line that is longer than the row it is shown in, so that it has to be folded, with every character kept.
\\ No newline at end of file
"""


@scene("diff", "what changed")
def states(stage: Stage) -> Iterator[SceneState]:
    yield SceneState("lines changed: the words that differ stand out", Diff(_CHANGE, theme=stage.theme))
    yield SceneState("a new file", Diff(_NEW, theme=stage.theme))
    yield SceneState("two files", Diff(_CHANGE + _NEW, theme=stage.theme))
    yield SceneState("not a diff at all", Diff("just some words", theme=stage.theme))
