"""A program of its own: one document in, markdown out. Run by its path, never imported.

Parsers of foreign formats are big, slow to import and easy to upset, so they live and die here: with limits on memory,
time and files, without the environment, and (see `_documents.py`) without a network. What went wrong is the last line
of stderr. The kind of a document is its extension: the library's own guess loads a neural network and its telemetry.
"""

import importlib
import os
import resource
import sys
import types

_MEMORY = 2 * 1024**3
_CPU_SECONDS = 120


class _NoGuess:
    """Stands in for the library's guesser: it never knows."""

    def identify_stream(self, stream: object) -> types.SimpleNamespace:
        return types.SimpleNamespace(status="unknown")


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, _MEMORY),
    ):
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):  # already lower, or not of this platform
            pass


def _convert(path: str) -> str:
    guesser = types.ModuleType("magika")
    guesser.Magika = _NoGuess  # type: ignore[attr-defined]
    sys.modules["magika"] = guesser
    library = importlib.import_module("markitdown")  # by name: the extra is rarely there when types are checked
    return str(library.MarkItDown(enable_plugins=False).convert_local(path).markdown)


def _main() -> int:
    os.environ.clear()
    _limit()
    try:
        text = _convert(sys.argv[1])
    except MemoryError:
        reason = "it needs more memory than a document may"
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
        return 0
    sys.stderr.write(f"\n{reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(_main())
