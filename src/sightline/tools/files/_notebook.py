"""Notebooks as text: each cell's source under a line `# %% [code] cell:0`, as read shows it and edit changes it.

Rules:

- Text made from a notebook and not changed makes the same notebook again, byte for byte.
- A cell has its metadata and outputs as long as its marker line has its number; a marker without a number, or with
  one that is used already or never was, makes a new cell. A cell whose marker is gone is removed.
- A source line that looks like a marker is shown with a backslash before it.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from sightline.tools._tool import ToolError

_Json = dict[str, Any]  # a notebook, or a cell: whatever else it holds stays

SUFFIX = ".ipynb"
_MARKER = re.compile(r"# %% \[(code|markdown|raw)\](?: cell:([0-9]{1,9}))?[ \t]*")
_ESCAPED = re.compile(r"\\*# %% \[")


def to_text(data: bytes) -> str:
    """ToolError when these bytes are no notebook of format 4."""
    rows: list[str] = []
    for index, cell in enumerate(_load(data)["cells"]):
        rows.append(f"# %% [{cell['cell_type']}] cell:{index}")
        rows += [f"\\{row}" if _ESCAPED.match(row) else row for row in _rows(_source(cell))]
    return "".join(f"{row}\n" for row in rows)


def from_text(text: str, original: bytes) -> bytes:
    """The notebook these bytes held, with the cells of this text."""
    if text == to_text(original):
        return original
    notebook = _load(original)
    before: list[_Json] = notebook["cells"]
    ids = _new_ids(before) if _has_ids(notebook) else None
    used: set[int] = set()
    cells: list[_Json] = []
    for kind, number, rows in _cells(text):
        known = number is not None and number < len(before) and number not in used
        if known and number is not None:
            used.add(number)
            cells.append(_changed(before[number], kind, rows))
        else:
            cells.append(_new(kind, rows, ids))
    notebook["cells"] = cells
    return _dump(notebook, original)


def _load(data: bytes) -> _Json:
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise ToolError(f"Not a notebook: {problem}. Read it with :raw to see its text.") from problem
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ToolError("Not a notebook of format 4: it has no list of cells. Read it with :raw to see its text.")
    if not all(_is_cell(cell) for cell in notebook["cells"]):
        raise ToolError("Not a notebook of format 4: a cell has no kind or no source. Read it with :raw.")
    return notebook


def _is_cell(cell: object) -> bool:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return False
    source = cell.get("source", "")
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(row, str) for row in source))


def _source(cell: _Json) -> str:
    """What no text can hold (half of a surrogate pair) is shown as a question mark, and stays in an unchanged cell."""
    source = cell.get("source", "")
    text = source if isinstance(source, str) else "".join(source)
    return text.encode("utf-8", "replace").decode()


def _rows(source: str) -> list[str]:
    return source.split("\n") if source else []


def _cells(text: str) -> list[tuple[str, int | None, list[str]]]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    cells: list[tuple[str, int | None, list[str]]] = []
    for line in lines:
        marker = _MARKER.fullmatch(line)
        if marker is not None:
            cells.append((marker[1], int(marker[2]) if marker[2] else None, []))
        elif not cells:
            raise ToolError("A notebook's text begins with a cell's marker, such as `# %% [code] cell:0`.")
        else:
            cells[-1][2].append(line[1:] if line.startswith("\\") and _ESCAPED.match(line) else line)
    return cells


def _changed(cell: _Json, kind: str, rows: list[str]) -> _Json:
    source = "\n".join(rows)
    if kind == cell["cell_type"] and source == _source(cell):
        return cell
    changed = {**cell, "cell_type": kind, "source": _as(cell.get("source"), source)}
    if kind == "code":
        changed.setdefault("execution_count", None)
        changed.setdefault("outputs", [])
    else:
        changed.pop("execution_count", None)
        changed.pop("outputs", None)
    return changed


def _as(like: object, source: str) -> str | list[str]:
    """A list of lines, as notebooks usually have it, unless this one has text."""
    if isinstance(like, str):
        return source
    *ended, last = source.split("\n")
    return [f"{row}\n" for row in ended] + ([last] if last else [])


def _new_ids(cells: list[_Json]) -> Iterator[str]:
    taken = {id for cell in cells if isinstance(id := cell.get("id"), str)}
    return (name for number in count() if (name := f"cell-{number}") not in taken)


def _new(kind: str, rows: list[str], ids: Iterator[str] | None) -> _Json:
    """`ids`: for notebooks whose cells have some."""
    cell: _Json = {"cell_type": kind}
    if ids is not None:
        cell["id"] = next(ids)
    cell |= {"metadata": {}, "source": _as(None, "\n".join(rows))}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _has_ids(notebook: _Json) -> bool:
    version = notebook.get("nbformat"), notebook.get("nbformat_minor")
    return version[0] == 4 and isinstance(version[1], int) and version[1] >= 5


def _dump(notebook: _Json, original: bytes) -> bytes:
    """Written as the original was: its indentation, its escapes, its last line end."""
    text = original.decode("utf-8-sig")
    indent = re.match(r"\s*\{\r?\n([ \t]+)", text)
    escapes = "\\u" in text and (text.isascii() or "\\ud" in text.lower())
    written = json.dumps(notebook, indent=indent[1] if indent else None, ensure_ascii=escapes)
    return (written + ("\n" if text.endswith("\n") else "")).encode()
