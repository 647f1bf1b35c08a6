"""JSON that is still being written."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.views.console.shapes._partial import Partial

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=5), st.integers(1, 7), st.booleans())
def test_every_text_of_the_object_is_read_however_it_is_cut(value: dict, step: int, ascii_only: bool) -> None:
    """In pieces of any size the fields that are texts come out as they went in."""
    written = json.dumps(value, ensure_ascii=ascii_only)
    partial = Partial()
    for end in range(0, len(written) + step, step):
        partial.read(written[:end])
    texts = {key: item for key, item in value.items() if isinstance(item, str)}
    assert {key: grown.text for key, grown in partial.fields.items()} == texts
    assert all(grown.complete for grown in partial.fields.values())


def test_a_text_is_there_as_far_as_it_came() -> None:
    """Half an escape waits, everything before it is told."""
    partial = Partial()
    partial.read('{"a": "one\\ntwo\\u00')
    assert partial.fields["a"].text == "one\ntwo"
    assert not partial.fields["a"].complete
    partial.read('{"a": "one\\ntwo\\u00e9 \\ud83d')
    assert partial.fields["a"].text == "one\ntwoé "
    partial.read('{"a": "one\\ntwo\\u00e9 \\ud83d\\ude00"')
    assert partial.fields["a"].text == "one\ntwoé 😀"


@pytest.mark.parametrize("text", ["[1, 2]", "nonsense", '{"a" 1}', '{"a": "\\q"}', "{,,,}", "", "{", '{"a"'])
def test_what_is_no_object_is_no_error(text: str) -> None:
    """Whatever a model writes, reading it only ends."""
    partial = Partial()
    for end in range(len(text) + 1):
        partial.read(text[:end])
    partial.read(text + text)
