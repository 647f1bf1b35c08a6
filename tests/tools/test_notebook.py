"""Notebooks as text and back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tools import ToolError
from sightline.tools.files._notebook import from_text, to_text
from sightline.tools.hashline import Snapshots

from .edit.support import Desk
from .support import make_context


def notebook(*cells, minor=5, indent: int | None = 1, **more):
    book = {"cells": list(cells), "metadata": {"é": 1.0}, "nbformat": 4, "nbformat_minor": minor, **more}
    return (json.dumps(book, indent=indent, ensure_ascii=False) + "\n").encode()


def code(source, name="a1", outputs=()):
    more = {"metadata": {"x": [1]}, "outputs": list(outputs), "source": source}
    return {"cell_type": "code", "execution_count": 3, "id": name, **more}


def words(source, name="b1"):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


BOOK = notebook(code(["import os\n", "os"], outputs=[{"data": "3"}]), words("# Title\n\ntext"), code([], "c1"))
TEXT = "# %% [code] cell:0\nimport os\nos\n# %% [markdown] cell:1\n# Title\n\ntext\n# %% [code] cell:2\n"


def cells(data):
    return json.loads(data)["cells"]


def test_cells_are_shown_under_markers():
    """read.md/Jupyter notebooks: `# %% [code] cell:0`."""
    assert to_text(BOOK) == TEXT


def test_unchanged_text_is_the_same_bytes():
    """However the notebook was written."""
    for data in (BOOK, notebook(code("x"), indent=None), notebook(code("x"), indent=4).replace(b"\n", b"\r\n")):
        assert from_text(to_text(data), data) == data


def test_a_changed_cell_keeps_all_but_its_source():
    """Outputs, metadata, id; and the file its indentation. Other cells do not change."""
    data = from_text(TEXT.replace("import os", "import sys"), BOOK)
    assert data == BOOK.replace(b"import os", b"import sys")


CHANGES = [
    pytest.param(TEXT + "# %% [raw]\nnew\n", ["a1", "b1", "c1", "cell-0"], id="marker without a number"),
    pytest.param(TEXT + "# %% [code] cell:0\nnew\n", ["a1", "b1", "c1", "cell-0"], id="number used already"),
    pytest.param(TEXT + "# %% [code] cell:9\nnew\n", ["a1", "b1", "c1", "cell-0"], id="number there never was"),
    pytest.param("# %% [markdown] cell:1\nx\n# %% [code] cell:0\ny\n", ["b1", "a1"], id="another order, one removed"),
    pytest.param("", [], id="all removed"),
]


@pytest.mark.parametrize(("text", "ids"), CHANGES)
def test_markers_say_which_cells_there_are(text, ids):
    """A known number keeps its cell."""
    data = from_text(text, BOOK)
    assert [cell["id"] for cell in cells(data)] == ids
    for cell in cells(data):
        assert ("outputs" in cell) is (cell["cell_type"] == "code")


def test_another_kind_changes_what_the_cell_holds():
    """Code has outputs, text has none."""
    data = from_text(
        TEXT.replace("[code] cell:0", "[markdown] cell:0").replace("[markdown] cell:1", "[code] cell:1"), BOOK
    )
    assert ["outputs" in cell for cell in cells(data)] == [False, True, True]


def test_text_before_the_first_marker_is_refused():
    """There is no cell it could belong to."""
    with pytest.raises(ToolError, match="begins with a cell's marker"):
        from_text("x\n" + TEXT, BOOK)


NO_NOTEBOOKS = [
    b"",
    b"\xff",
    b"[]",
    b"{}",
    b"[" * 100_000,
    b'{"cells": 1}',
    b'{"cells": [1]}',
    b'{"cells": [{"cell_type": "odd"}]}',
    b'{"cells": [{"cell_type": "code", "source": 1}]}',
    b'{"worksheets": []}',
]


@pytest.mark.parametrize("data", NO_NOTEBOOKS)
def test_what_is_no_notebook_says_so(data):
    """As the tool's own error."""
    with pytest.raises(ToolError, match="notebook"):
        to_text(data)


LIKE_MARKERS = st.sampled_from(
    ["# %% [code] cell:0", "\\# %% [code]", "# %% [", "\\\\# %% [x]", "", " ", "\r", "x\u2028y"]
)


@settings(deadline=None)
@given(st.lists(st.lists(LIKE_MARKERS | st.text(max_size=8), max_size=4).map("\n".join), max_size=4))
def test_any_source_comes_back(sources):
    """Also lines that look like markers, and what no text can hold."""
    data = notebook(*(code(source, f"id{number}") for number, source in enumerate(sources)))
    changed = from_text(to_text(data) + "# %% [raw]\nend\n", data)
    assert [cell["source"] for cell in cells(changed)] == [*sources, ["end"]]


def test_half_a_surrogate_pair_in_another_cell_stays():
    """It can be in a notebook's JSON, not in text."""
    data = notebook(code("HALF"), words("x")).replace(b"HALF", b"\\ud800")
    assert to_text(data).encode().startswith(b"# %% [code] cell:0\n?\n")
    changed = from_text(to_text(data).replace("\nx\n", "\ny\n"), data)
    assert [cell["source"] for cell in cells(changed)] == ["\ud800", "y"]


async def test_a_notebook_is_edited_as_its_text(tmp_path):
    """With tags of that text; the file stays a notebook."""
    desk = Desk(make_context(tmp_path))
    desk.put("n.ipynb", BOOK)
    tag = desk.context.shared(Snapshots).record(desk.path("n.ipynb"), to_text(BOOK))
    outcome = await desk.edit(f"¶n.ipynb#{tag}\nreplace 2:\n+import sys")
    assert desk.path("n.ipynb").read_bytes() == BOOK.replace(b"import os", b"import sys")
    assert "+2:import sys" in outcome.text
    assert "Warnings" not in outcome.text


async def test_a_new_cell_renumbers_and_says_so(tmp_path):
    """The tag of the result is that of the next read."""
    desk = Desk(make_context(tmp_path))
    desk.put("n.ipynb", BOOK)
    store = desk.context.shared(Snapshots)
    tag = store.record(desk.path("n.ipynb"), to_text(BOOK))
    outcome = await desk.edit(f"¶n.ipynb#{tag}\ninsert head:\n+# %% [markdown]\n+hello")
    data = desk.path("n.ipynb").read_bytes()
    assert [cell["cell_type"] for cell in cells(data)] == ["markdown", "code", "markdown", "code"]
    assert outcome.text.startswith(f"¶n.ipynb#{store.record(desk.path('n.ipynb'), to_text(data))}\n")
    assert "renumbered" in outcome.text


async def test_a_notebook_shown_as_plain_text_is_edited_as_such(tmp_path):
    """Search shows the file's own lines."""
    desk = Desk(make_context(tmp_path))
    desk.put("n.ipynb", BOOK)
    tag = desk.context.shared(Snapshots).record(desk.path("n.ipynb"), BOOK.decode())
    number = BOOK.decode().split("\n").index('    "import os\\n",') + 1
    await desk.edit(f'¶n.ipynb#{tag}\nreplace {number}:\n+    "import sys\\n",')
    assert desk.path("n.ipynb").read_bytes() == BOOK.replace(b"import os", b"import sys")


async def test_a_notebook_is_not_created(tmp_path):
    """Its text is not all there is to one."""
    desk = Desk(make_context(tmp_path))
    assert "Use write" in await desk.refused("¶n.ipynb\ninsert head:\n+# %% [code]\n+x")
