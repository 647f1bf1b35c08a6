"""Front matter: plain values, read the same with and without the YAML library, and nothing that costs more."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sightline.settings._front_matter import NotFrontMatter, _read_yaml, _simple, read_page


def fields(head: str) -> object:
    return read_page(f"---\n{head}\n---\nbody").fields


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("a: word", {"a": "word"}),
        ("a: two words  ", {"a": "two words"}),
        ("a: Use it when: something", {"a": "Use it when: something"}),
        ("a: it ends with a colon:", {"a": "it ends with a colon:"}),
        ("a: 'quoted: it'", {"a": "quoted: it"}),
        ('a: "quoted # it"', {"a": "quoted # it"}),
        ("a: word # a comment", {"a": "word"}),
        ("# a comment\na: b\n\nc: d", {"a": "b", "c": "d"}),
        ("a: true\nb: False\nc: null\nd:", {"a": True, "b": False, "c": None, "d": None}),
        ("a: 3\nb: 0.5\nc: 1e999\nd: 2024-01-01", {"a": 3, "b": 0.5, "c": "1e999", "d": "2024-01-01"}),
        (f"a: {'9' * 5000}", {"a": "9" * 5000}),
        ("a: *", {"a": "*"}),
        ("a: *\nb: [x, y]", {"a": "*", "b": ["x", "y"]}),
        ("a: when: this\nb: [x, y]", {"a": "when: this", "b": ["x", "y"]}),
        ('a: ["x", "y"]', {"a": ["x", "y"]}),
        ("a:\n  - x\n  - y: z", {"a": ["x", {"y": "z"}]}),
        ("a: {b: {c: d}}", {"a": {"b": {"c": "d"}}}),
        ("a: |\n  one\n  two", {"a": "one\ntwo\n"}),
        ("a: >-\n  one\n  two", {"a": "one two"}),
        ("a: héllo 👩‍💻", {"a": "héllo 👩‍💻"}),
        ("", {}),
    ],
)
def test_values(head: str, expected: object) -> None:
    """Text, numbers, true, false, null, lists and mappings."""
    assert fields(head) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not begin with front matter"),
        ("name: a\n", "does not begin with front matter"),
        ("\n---\na: b\n---\n", "does not begin with front matter"),
        ("---\na: b\n", "has no end"),
        ("---\na: b\n ---\n", "has no end"),
        ("---\n- a\n---\n", "not a list of name: value lines"),
        ("---\na: b\na: c\n---\n", "a is there twice"),
        ("---\na: {b: c, b: d}\n---\n", "b is there twice"),
        ("---\n? [a]\n: b\n---\n", "a name must be text"),
        ("---\na: [b\n---\n", "line 3: not valid YAML"),
        ("---\na: &x [b]\nc: *x\n---\n", "line 2: anchors and aliases are not allowed"),
        ("---\na: !!python/object/apply:os.system [id]\n---\n", "tags are not allowed"),
        ("---\na: !!binary aGk=\n---\n", "tags are not allowed"),
        ("---\na: \x07\n---\n", "not valid YAML"),
        (f"---\na: {'[' * 10_000}\n---\n", "nested deeper than 16 levels"),
        ("---\na: [" + "b," * 6000 + "]\n---\n", "more than 5000 values"),
        (f"---\na: {'x' * 70_000}\n---\n", "longer than 64 KB"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    """In one line, which names the place where there is one."""
    with pytest.raises(NotFrontMatter, match=reason) as caught:
        read_page(text)
    assert "\n" not in str(caught.value)


def test_the_body_is_everything_behind_it() -> None:
    """Also lines of dashes, and files with Windows line ends."""
    page = read_page("---\r\na: b\r\n---\r\n\r\nOne\r\n---\r\nTwo\r\n")
    assert (page.fields, page.body) == ({"a": "b"}, "One\n---\nTwo\n")


PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=30)


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True), PLAIN, max_size=5))
def test_simple_lines_mean_what_yaml_makes_of_them(values: dict[str, str]) -> None:
    """Where a line is YAML at all, reading it without the library makes no difference."""
    head = "".join(f"{name}: {words}\n" for name, words in values.items())
    simple = _simple(head)
    try:
        whole = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError):
        return
    if simple is not None and isinstance(whole, dict):
        assert simple == _read_yaml(head)


@pytest.mark.parametrize(
    "head",
    [
        "a: x" + " " * 60_000 + "x",
        "a: " + "{" * 60_000,
        "a: " + "[x," * 20_000,
        "a: " + "'" * 60_000,
        "a: " + ": " * 30_000,
        "\n".join(f"a{number}: b" for number in range(6000)),
        "a: " + "*" * 60_000,
        "- " * 30_000,
        "? " * 30_000,
        "a: >\n" + "  x\n" * 15_000,
    ],
    ids=lambda head: head[:8],
)
def test_long_lines_come_to_an_end(head: str) -> None:
    """Neither a long line nor many marks of YAML take forever: a fuzzer bounds the time of each input."""
    try:
        fields(head)
    except NotFrontMatter:
        pass
