"""Whether a request would reach beyond the sandbox and the folder: approving that is never preselected."""

import os


def leaves_sandbox(access: str, what: str, cwd: str, *, sandboxed: bool = False) -> bool:
    """`what`: of a write, its files, with commas between them. What is not known to stay inside leaves."""
    if access == "read":
        return False
    if access == "write" and what and cwd:
        return not all(_is_inside(path, cwd) for path in what.split(", "))
    return not (access == "exec" and sandboxed)


def _is_inside(path: str, folder: str) -> bool:
    try:
        root = os.path.realpath(folder)
        real = os.path.realpath(os.path.join(root, path))
    except (OSError, ValueError):
        return False
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
