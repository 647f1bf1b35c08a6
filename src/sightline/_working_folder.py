"""No module of this program comes from the folder it works in: a sandboxed command can write there.

`python -m sightline` and a PYTHONPATH put that folder, or one in it, before the standard library. What is imported
later would be taken from there.
"""

import os
import sys


def import_nothing_from_it() -> None:
    """Stays: what this program itself was installed in; the protected set keeps that read-only."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        return
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    stays = (os.path.abspath(sys.prefix), os.path.abspath(sys.base_prefix))
    sys.path[:] = [
        entry
        for entry in sys.path
        if not _is_in(os.path.abspath(entry), folder)
        or os.path.abspath(entry) == package
        or any(_is_in(os.path.abspath(entry), each) for each in stays)
    ]


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
