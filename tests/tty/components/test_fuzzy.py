"""What somebody began to type is found, the likeliest first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.components._fuzzy import FuzzyIndex, fuzzy_match


@pytest.mark.parametrize(
    ("query", "text", "positions"),
    [
        ("", "anything", ()),
        ("ed", "editor", (0, 1)),
        ("ED", "editor", None),
        ("ed", "EDITOR", (0, 1)),
        ("main", "domain main", (7, 8, 9, 10)),
        ("gs", "get_string", (0, 4)),
        ("gs", "getString", (0, 3)),
        ("abc", "a_xb_abxc", (5, 6, 8)),
        ("xyz", "xy", None),
        ("i", "İi", (1,)),
    ],
)
def test_letters_in_order_match(query, text, positions):
    """Which characters answer: runs and beginnings of words before others, capitals only when asked for."""
    match = fuzzy_match(query, text)
    assert (match and match[1]) == positions


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("edit", "edit", "editor"),
        ("edit", "editor", "the editor"),
        ("edit", "the editor", "credits"),
        ("edit", "credits", "e-d-i-t"),
        ("fb", "foo_bar", "fxxxb"),
        ("abc", "abxc", "axxbxxc"),
        ("ed", "editor", "editor in a long text"),
    ],
)
def test_what_is_likelier_scores_higher(query, better, worse):
    """The whole text, its beginning, a word, inside, scattered."""
    assert fuzzy_match(query, better)[0] > fuzzy_match(query, worse)[0]


@given(st.text(max_size=6), st.text(max_size=30))
def test_a_match_is_the_query(query, text):
    """The characters at the positions spell the query, in order."""
    match = fuzzy_match(query, text)
    if match is None:
        return
    spelled = "".join(text[at] for at in match[1])
    assert spelled == query or spelled.lower() == query.lower()
    assert list(match[1]) == sorted(set(match[1]))


words = st.lists(st.text("abcAB_ ", min_size=1, max_size=8), max_size=30)


@given(words, st.text("abcAB_", min_size=1, max_size=4))
def test_a_growing_query_finds_what_a_fresh_one_finds(texts, query):
    """Narrowing is only faster."""
    growing = FuzzyIndex(texts)
    for end in range(1, len(query) + 1):
        found = growing.search(query[:end])
        assert list(found) == list(FuzzyIndex(texts).search(query[:end]))
        assert sorted(found) == [number for number, text in enumerate(texts) if fuzzy_match(query[:end], text)]
    assert list(growing.search("")) == list(range(len(texts)))


def test_another_query_looks_at_everything_again():
    """Only a query that grew narrows."""
    index = FuzzyIndex(["alpha", "beta"])
    assert list(index.search("alp")) == [0]
    assert list(index.search("be")) == [1]
    assert list(index.search("b")) == [1]
    assert list(index.search("a")) == [0, 1]


@given(words, st.text("abcAB_", min_size=1, max_size=3))
def test_the_best_of_many_come_first_although_few_are_scored(texts, query):
    """What scores highest is at the top however many match."""
    many = [f"{text} {number}" for number, text in enumerate(texts * 20)]
    found = FuzzyIndex(many).search(query)
    if found:
        best = max(fuzzy_match(query, many[number])[0] // 100_000 for number in found)
        assert fuzzy_match(query, many[found[0]])[0] // 100_000 == best
