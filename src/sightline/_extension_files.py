"""Extension files: which of them count, and how one is loaded. Both halves of an extension go by this, the host's and
the console's.

Rules:

- The person's own come first, then the project's if its folder is trusted.
- A file's name is its extension's; one that begins with an underscore or a dot is none. Of two with the same name the
  first counts.
- A file that cannot be loaded is told, with the line that failed, and left out whole.
"""

import sys
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

import msgspec

from sightline.settings import extension_folders, project_of, why_not_trusted
from sightline.text import clean_line


class ExtensionFiles(msgspec.Struct, frozen=True):
    """`left_out` are the project's, and `why` the reason; `project` is their folder."""

    files: list[Path] = []
    left_out: list[Path] = []
    why: str = ""
    project: Path | None = None


def extension_files(cwd: Path, environ: Mapping[str, str]) -> ExtensionFiles:
    """Those that count in a folder."""
    own, project = extension_folders(cwd, environ)
    files = _files(own)
    theirs = _files(project) if project is not None and not _same(project, own) else []
    if theirs and project is not None and (why := why_not_trusted(project_of(project))):
        return ExtensionFiles(files, theirs, why, project)
    return ExtensionFiles([*files, *theirs], project=project)


def imported(file: Path, half: str = "") -> ModuleType:
    """Compiled here and not by the import system, which would leave its cache in the project's folder."""
    digest = blake2b(f"{half}{file}".encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    module = ModuleType(f"sightline_extension_{file.stem}_{digest}")
    module.__file__ = str(file)
    code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    sys.modules[module.__name__] = module  # type hints are looked up there
    exec(code, module.__dict__)
    return module


def failure(file: Path, error: BaseException) -> str:
    """One line that says what was wrong, and where."""
    line = _line(file, error)
    where = f"{file}:{line}" if line else str(file)
    return clean_line(f"the extension {where} is left out: {type(error).__name__}: {error}")


def _same(project: Path, own: Path) -> bool:
    """With `SIGHTLINE_HOME` in the project, its extensions are the person's own."""
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
