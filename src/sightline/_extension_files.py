"""Extension files: which of them are used, and how one is loaded, by the host and by the console.

Rules:

- The user's own come first, then the project's if its folder is trusted.
- A file's name is its extension's; one that begins with an underscore or a dot is none. Of two with the same name the
  first counts.
- A file that cannot be loaded is reported, with the line that failed, and left out whole.
- A project's file is loaded as it was when it was found to be the trusted one; it is not read again.
"""

import os
import sys
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

import msgspec

from sightline.handles import read_at_most
from sightline.settings import Trust, extension_folders, project_of, trusted_files
from sightline.text import clean_line, cut_graphemes

_MOST_BYTES = 32 * 1024 * 1024
_REASON_AT_MOST = 500  # characters


class ExtensionFile(msgspec.Struct, frozen=True):
    """`source`: the content of a project's file; the user's own are read when they are loaded."""

    path: Path
    source: bytes | None = None

    @property
    def name(self) -> str:
        return self.path.stem


class ExtensionFiles(msgspec.Struct, frozen=True):
    """`left_out` are the project's, which is not trusted; `project` is their folder."""

    files: list[ExtensionFile] = []
    left_out: list[Path] = []
    trust: Trust = "trusted"
    project: Path | None = None


def extension_files(cwd: Path, environ: Mapping[str, str]) -> ExtensionFiles:
    """The extension files for a folder."""
    own, project = extension_folders(cwd, environ)
    files = [ExtensionFile(path) for path in _files(own)]
    theirs = _files(project) if project is not None and not _same(project, own) else []
    if not theirs or project is None:
        return ExtensionFiles(files, project=project)
    trust, content = trusted_files(project_of(project))
    if trust != "trusted":
        return ExtensionFiles(files, theirs, trust, project)
    folder = Path(os.path.realpath(project_of(project))) / project.parent.name / project.name
    # One that came after the look is not there yet.
    looked_at = [ExtensionFile(path, content[folder / path.name]) for path in theirs if folder / path.name in content]
    return ExtensionFiles([*files, *looked_at], project=project)


def imported(file: ExtensionFile, half: str = "") -> ModuleType:
    """Compiled here and not by the import system, which would leave its cache in the project's folder."""
    digest = blake2b(f"{half}{file.path}".encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    module = ModuleType(f"sightline_extension_{file.name}_{digest}")
    module.__file__ = str(file.path)
    source = read_at_most(file.path, _MOST_BYTES) if file.source is None else file.source
    code = compile(source, str(file.path), "exec", dont_inherit=True)
    sys.modules[module.__name__] = module  # type hints are looked up there
    exec(code, module.__dict__)
    return module


def failure(file: Path, error: BaseException, what: str = "the extension") -> str:
    """One line: what was wrong, and where."""
    line = _line(file, error)
    where = f"{file}:{line}" if line else str(file)
    why = cut_graphemes(clean_line(str(error)[:_REASON_AT_MOST]), _REASON_AT_MOST)
    return clean_line(f"{what} {where} is left out: {type(error).__name__}: {why}")


def _same(project: Path, own: Path) -> bool:
    """With `SIGHTLINE_HOME` in the project, its extensions are the user's own."""
    return project.resolve() == own.resolve()


def _files(folder: Path) -> list[Path]:
    """By name."""
    try:
        names = sorted(file for file in folder.glob("*.py") if file.is_file())
    except OSError:
        return []
    return [file for file in names if not file.name.startswith(("_", "."))]


def _line(file: Path, error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno
    import traceback

    here = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return here[-1].lineno if here else None
