"""Paths that a model or a page names: read as one path, shown on one line, and what must stay inside stays inside."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from random import Random

from sightline.journal._shelf import artifact_file
from sightline.testing.fuzz._mutation import joined, text_of
from sightline.testing.fuzz._target import hold
from sightline.tools._tool import ToolError
from sightline.tools.archives import candidates as in_archives
from sightline.tools.archives import normalize_entry
from sightline.tools.archives._names import safe_name
from sightline.tools.files import _paths
from sightline.tools.files._selectors import split_selector
from sightline.tools.sqlite import candidates as in_databases
from sightline.tools.sqlite import parse_selection, parse_target

_PIECES = [
    "a", "b.txt", "..", ".", "/", "/", "//", "\\", "~", "~root", "~nobody", "link", "file://", "file://localhost/",
    "%2e%2e", "%2f", "%00",
    ":", ":1-5", ":10+", "?where=", "?q=SELECT 1", "&limit=", ".zip:", ".tar.gz:", ".db:", "x.sqlite", "C:", "CON",
    '"', "'", "`", "“", "”",
    " ", "\n", "\r", "\t", "\0", "\x1b", "\u2028", "\u202e", "é", "e\u0301", "\ufffd", "\udcff", "\ud800", "a" * 300,
    "AM", "'s", ",",
]  # fmt: skip
_one_line = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]").search


class Paths:
    name = "paths"

    def open(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sightline-fuzz-"))
        self._cwd = self._folder / "work"
        (self._cwd / "a" / "artifacts").mkdir(parents=True)
        (self._folder / "outside.txt").write_text("outside")
        (self._cwd / "link").symlink_to(self._folder)
        (self._cwd / "a" / "artifacts" / "b.txt").write_text("inside")

    def close(self) -> None:
        shutil.rmtree(self._folder)

    def make(self, random: Random) -> str:
        return joined(random, _PIECES, 10) if random.random() < 0.85 else text_of(random, 60)

    def check(self, given: str) -> None:
        self._check_path(given)
        self._check_entry(given)
        artifact = artifact_file(self._cwd / "a", given)
        hold(artifact is None or artifact.parent == self._cwd / "a" / "artifacts", "an artifact of another folder")
        for read in (split_selector, in_archives, in_databases, parse_selection, parse_target):
            try:
                read(given)
            except ToolError:
                pass

    def _check_path(self, given: str) -> None:
        try:
            path = _paths.resolve(given, self._cwd)
        except ToolError:
            return
        hold(path.is_absolute() and ".." not in path.parts, "not the path itself")
        hold(
            _one_line(_paths.shown(path)) is None and _one_line(_paths.display(path, self._cwd)) is None,
            "more than a line",
        )
        real = os.path.realpath(path)
        inside = real == str(self._cwd) or real.startswith(f"{self._cwd}{os.sep}")
        hold(_paths.is_outside(path, self._cwd) is not inside, "outside or not, it says the other")
        need = _paths.write_need(path, self._cwd)[0]
        hold(need.what == _paths.shown(real), "what is needed is not where it leads")

    def _check_entry(self, given: str) -> None:
        for name in (safe_name, normalize_entry):
            try:
                entry = name(given)
            except ToolError:
                continue
            if entry is not None:
                there = os.path.normpath(f"/place/{entry}")
                hold(there == "/place" or there.startswith("/place/"), "an entry that would land outside")
