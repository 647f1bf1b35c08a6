"""Tables by themselves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.cells._width import measure
from sightline.tty.components._table import LAID_OUT_FROM, Table
from tests.tty.components.role_marks import MARKS, marked


def test_columns_side_by_side() -> None:
    """Columns are as wide as they need to be, aligned as asked, with nothing behind the last."""
    table = Table(["name", "size"], [["a", "1"], ["long name", "1234"]], ["left", "right"], theme=MARKS)
    assert [marked(row) for row in table.render(40)] == [
        "<table_header>name</>      <table_border>│</> <table_header>size</>",
        "<table_border>──────────┼─────</>",
        "a         <table_border>│</>    1",
        "long name <table_border>│</> 1234",
    ]


def test_cells_wrap_where_there_is_little_room() -> None:
    """Columns that need less than their share keep it, the others divide the rest."""
    table = Table(["id", "text"], [["1", "some words that wrap"], ["22", "日本語日本語日本語"]])
    assert list(table.render(15)) == [
        "id │ text",
        "───┼───────────",
        "1  │ some words",
        "   │ that wrap",
        "22 │ 日本語日本",
        "   │ 語日本語",
    ]


def test_without_room_for_columns_values_stand_below_each_other() -> None:
    """Each row becomes its values with their names, an empty row between two."""
    table = Table(["first", "second"], [["a long value", "b"], ["c", ""]])
    assert list(table.render(12)) == ["first: a", "long value", "second: b", "", "first: c", "second:"]


def test_later_rows_do_not_change_the_columns() -> None:
    """Only the first rows decide how wide a column is; a later one wraps in it."""
    rows = [["x", "y"]] * LAID_OUT_FROM
    table = Table(["a", "b"], rows)
    short = list(table.render(30))
    table.set_rows([*rows, ["one two", "three"]])
    longer = list(table.render(30))
    assert longer[: len(short)] == short
    assert longer[len(short) :] == ["o │ three", "n │", "e │", "t │", "w │", "o │"]


def test_rows_shorter_or_longer_than_the_header() -> None:
    """Missing cells are empty; a table without columns has no rows."""
    assert list(Table(["a", "b"], [["1"], []]).render(20)) == ["a │ b", "──┼──", "1 │", "  │"]
    assert list(Table([], [["1"]]).render(20)) == []


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda count: st.lists(
            st.lists(st.text("ab日é ", max_size=12), min_size=count, max_size=count), min_size=1, max_size=16
        )
    ),
    st.integers(-1, 50),
)
def test_no_row_is_too_wide_or_padded(lines: list[list[str]], width: int) -> None:
    """Rows fit whatever the width, and end where their text ends."""
    rows = Table(lines[0], lines[1:], ["right", "center"][: len(lines[0])]).render(width)
    assert all(measure(row) <= max(width, 0) for row in rows)
    if width >= 2:
        assert [row for row in rows if row.endswith(" ")] == []


@pytest.mark.parametrize("width", [20, 21])
def test_unchanged_rows_are_the_same_object(width: int) -> None:
    """Asked again, a table gives the rows it gave."""
    table = Table(["a"], [["1"]])
    assert table.render(width) is table.render(width)
