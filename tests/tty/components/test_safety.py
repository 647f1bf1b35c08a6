"""Whatever string a component is given, its rows hold text, SGR and our own links, fit, and are complete in themselves.

tui.md, "Rendering constraints (terminal safety)" and "Core component contract"; tui-core-renderer.md §3.8 and §5.
Every owner of a component registers it in a file `safety_<name>.py` beside this one: `CASES` maps a name to what
builds the component from a string.
"""

import importlib
import pkgutil
import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tests.tty.components
from sightline.tty._component import CURSOR
from sightline.tty._images import ImageRow
from sightline.tty.cells._width import measure
from tests.text.escape_attacks import ATTACKS

WIDTHS = (1, 2, 7, 80)
_SMALL, _LARGE = 2_000, 20_000

_modules = sorted(m.name for m in pkgutil.iter_modules(tests.tty.components.__path__) if m.name.startswith("safety_"))
_found = {name: importlib.import_module(f"tests.tty.components.{name}").CASES for name in _modules}
CASES = {
    f"{name.removeprefix('safety_')}: {case}": make for name, cases in _found.items() for case, make in cases.items()
}

_sgr = re.compile("\x1b\\[([0-9;:]*)m")
_link = re.compile("\x1b\\]8;;([!-~]*)\x1b\\\\")
_forbidden = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _texts():
    """The attacks as a component may meet them: bytes read as UTF-8, and raw 8-bit controls as characters."""
    for name, data in ATTACKS:
        yield name, data.decode("utf-8", "replace")
        if "raw_c1" in name:
            yield f"{name} as latin-1", data.decode("latin-1")


def _batches():
    """Small attacks one after the other in a few texts, because each alone would take minutes; large ones alone."""
    small = [text for _, text in _texts() if len(text) <= _SMALL]
    yield from ("".join(small[start::16]) for start in range(16))
    yield from (text[:_LARGE] + "\nSAFE\n" for _, text in _texts() if len(text) > _SMALL)


BATCHES = list(_batches())

hostile = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x1b[]8;m0123\x07\x9b\x9d\x9c\\_GP^X \t\r\n\b\u202e\u2066\ud83d\u200d\u0301\ufe0f宽👨é#*-`|>"
        ),
        st.characters(codec=None),
    ),
    max_size=80,
)


def problem_of(row, width):
    """What is wrong with a row; None when nothing is."""
    if not isinstance(row, str):
        return f"not text: {row!r}"
    text = str.__str__(row).replace(CURSOR, "") if isinstance(row, ImageRow) else row.replace(CURSOR, "")
    plain = _link.sub("", _sgr.sub("", text))
    if (bad := _forbidden.search(plain)) is not None:
        return f"holds {bad.group()!r}: {row!r}"
    if measure(text) > width:
        return f"{measure(text)} cells in {width}: {row!r}"
    if (styles := _sgr.findall(text)) and styles[-1] not in ("", "0"):
        return f"style is left open: {row!r}"
    if (links := _link.findall(text)) and (links[-1] != "" or any(map(all, pairwise(links)))):
        return f"link is left open: {row!r}"
    if any(url and not url.startswith(("http://", "https://", "mailto:", "file://")) for url in links):
        return f"a link of no kind we make: {row!r}"
    return None


def check(component, width):
    rows = component.render(width)
    problems = [problem for row in rows if (problem := problem_of(row, max(width, 1)))]
    assert not problems, problems[0]
    assert component.render(width) is rows


@pytest.mark.parametrize("name", CASES)
def test_attacks_do_not_get_through(name):
    """Every known attack, at every width: only text, SGR and links come out; unchanged, the rows are the same."""
    for text in BATCHES:
        component = CASES[name](text)
        for width in WIDTHS if len(text) <= _SMALL * 4 else (7, 80):
            check(component, width)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=hostile, width=st.sampled_from(WIDTHS))
@example(text="", width=1)
@example(text="\n", width=2)
@example(text="\x1b[31", width=7)
@example(text="\x1b[31mred", width=7)
@example(text="宽", width=1)
@example(text="\u0301", width=1)
def test_any_text_gives_safe_rows(name, text, width):
    """For arbitrary strings the rows hold only SGR and our own sequences, fit the width and close what they open."""
    check(CASES[name](text), width)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [-1, 0])
def test_no_width_at_all_does_not_raise(name, width):
    """tui-core-renderer.md §3.8: never throw in the render path; even where there is no room."""
    CASES[name]("some words\nand more").render(width)


@pytest.mark.parametrize("name", CASES)
def test_a_focused_component_is_as_safe(name):
    """With the focus the cursor mark may be in one row, at most once; the rest stays as it must be."""
    for text in ("some words", *BATCHES[:4]):
        component = CASES[name](text)
        component.focused = True
        for width in WIDTHS:
            check(component, width)
            assert sum(row.count(CURSOR) for row in component.render(width)) <= 1


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("\x1b[2J", "holds"),
        ("\x1b]0;title\x07", "holds"),
        ("a\tb", "holds"),
        ("\x1b[31mred", "open"),
        ("\x1b]8;;https://x.invalid\x1b\\text", "open"),
        ("\x1b]8;;javascript:x\x1b\\text\x1b]8;;\x1b\\", "no kind"),
        ("12345678", "cells"),
    ],
)
def test_the_check_itself_finds_bad_rows(row, why):
    """The property can fail: each kind of bad row is told."""
    assert why in problem_of(row, 7 if why == "cells" else 80)
