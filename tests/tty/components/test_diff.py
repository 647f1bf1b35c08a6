"""Diffs: numbers, signs, and the words that changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.cells._width import measure
from sightline.tty.components._diff import Diff
from sightline.tty.theme._colour import Depth
from sightline.tty.theme._theme import theme_for
from tests.tty.components.role_marks import MARKS, marked

GIT = """diff --git a/src/a.py b/src/a.py
index 111..222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -9,4 +9,5 @@ def f():
 keep
-    return old(value, 1)
+    return new(value, 1)
+
 end
--- not a header
+++ nor this
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
"""


def test_a_diff_of_git() -> None:
    """One title for each file, numbers of the file a line is in, the changed words brought out."""
    assert [marked(row) for row in Diff(GIT, theme=MARKS).render(60)] == [
        "<title>src/a.py</>",
        "<diff_hunk>⋮ def f():</>",
        "<line_number> 9</> <diff_context>  keep</>",
        "<line_number>10</> <diff_removed>-     return </><diff_removed_word>old</><diff_removed>(value, 1)</>",
        "<line_number>10</> <diff_added>+     return </><diff_added_word>new</><diff_added>(value, 1)</>",
        "<line_number>11</> <diff_added>+</>",
        "<line_number>12</> <diff_context>  end</>",
        "<line_number>12</> <diff_removed>- -- not a header</>",
        "<line_number>13</> <diff_added>+ ++ nor this</>",
        "",
        "<title>old.txt → new.txt</>",
    ]


def test_files_that_come_and_go() -> None:
    """A file that is new or gone says so."""
    text = "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n\\ No newline at end"
    assert list(Diff(text).render(40)) == [
        "a (new)", "1 + x", "", "b (deleted)", "1 - y", "\\ No newline at end"
    ]  # fmt: skip


def test_a_diff_without_headers_has_no_numbers() -> None:
    """What models write as a diff is shown by its signs alone; what is none of it stays as it is."""
    assert list(Diff("@@ ... @@\n a\n-b\n+c\n...").render(40)) == ["@@ ... @@", "  a", "- b", "+ c", "..."]


def test_where_lines_are_left_out_there_is_a_mark() -> None:
    """In place of the header of a hunk, whose numbers its lines have; before the first nothing is left out."""
    text = "@@ -1,2 +1,2 @@\n-a\n+b\n@@ -40,2 +40,2 @@ class C:\n-c\n+d\n@@ -90 +90 @@\n-e\n"
    assert list(Diff(text).render(40)) == [
        " 1 - a", " 1 + b", "⋮ class C:", "40 - c", "40 + d", "⋮", "90 - e"
    ]  # fmt: skip


@pytest.mark.parametrize("depth", ["256", "true"])
@pytest.mark.parametrize("dark", [True, False])
def test_changed_lines_have_a_faint_background_and_the_colours_of_their_language(dark: bool, depth: Depth) -> None:
    """All of the row, whatever stands in it; what did not change has none."""
    theme = theme_for(dark=dark, depth=depth)
    text = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n import os\n-return None\n+raise Error(1)\n"
    _, context, removed, added = Diff(text, theme=theme).render(40)
    for row, role in ((removed, "diff_removed"), (added, "diff_added")):
        assert row.startswith(theme.open(f"{role}_line"))
        assert measure(row) == 40
        assert theme.open(role) in row
    assert theme.style("syntax_keyword", "raise") in added
    assert theme.style("syntax_keyword", "import") in context
    assert theme.open("diff_added_line") not in context


@pytest.mark.parametrize("depth", ["none", "16"])
def test_without_colours_for_it_a_changed_line_has_the_look_of_its_sign(depth: Depth) -> None:
    """No background, no colours of a language: nothing is told by them."""
    theme = theme_for(dark=True, depth=depth)
    (row,) = Diff("+raise Error(1)\n", path="x.py", theme=theme).render(40)
    assert row == theme.style("diff_added", "+ raise Error(1)")


def test_counts_that_are_wrong_swallow_no_file() -> None:
    """A hunk that announces more lines than it has ends where the next file begins."""
    text = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -5 +5 @@\n-c\n+d\n"
    assert list(Diff(text).render(40)) == [
        "x", "1 - a", "1 + b", "", "y", "5 - c", "5 + d"
    ]  # fmt: skip


def test_no_text_has_no_rows() -> None:
    """An empty diff is empty."""
    assert list(Diff().render(40)) == []


def test_lines_with_little_in_common_have_no_changed_words() -> None:
    """A line that became another one is changed as a whole."""
    rows = [marked(row) for row in Diff("-completely different\n+nothing alike here", theme=MARKS).render(40)]
    assert rows == ["<diff_removed>- completely different</>", "<diff_added>+ nothing alike here</>"]


def test_long_lines_are_folded_below_their_text() -> None:
    """Every character is kept, and the number stands only before the first row."""
    rows = list(Diff("@@ -1 +1 @@\n+" + "abcdefghij" * 4).render(25))
    assert rows == ["1 + abcdefghijabcdefghija", "  bcdefghijabcdefghij"]


def test_tabs_are_expanded_within_the_line() -> None:
    """A tab leads to the next stop of the file's own line, also behind a changed word."""
    assert list(Diff("-\ta\tb\n+\taa\tb").render(40)) == ["-     a   b", "+     aa  b"]


def test_huge_lines_are_shown_without_comparing_their_words() -> None:
    """The work for a line has a bound."""
    rows = Diff(f"-{'a b ' * 5000}\n+{'a c ' * 5000}", theme=MARKS).render(100)
    assert not any("_word" in marked(row) for row in rows)


def test_unchanged_rows_are_the_same_object() -> None:
    """Asked again, a diff gives the rows it gave; with another text it does not."""
    diff = Diff(GIT)
    rows = diff.render(40)
    diff.set_text(GIT)
    assert diff.render(40) is rows
    diff.set_text("+a")
    assert list(diff.render(40)) == ["+ a"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text("+-@ ab\t日\\", max_size=14), max_size=12).map("\n".join), st.integers(-1, 40))
def test_no_row_is_too_wide(text: str, width: int) -> None:
    """Rows fit whatever the text and the width."""
    assert all(measure(row) <= max(width, 0) for row in Diff(f"@@ -1,3 +1,3 @@\n{text}").render(width))
