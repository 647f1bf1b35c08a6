"""Templates and conditions: paths, and nothing but paths."""

import pytest

from sightline.exceptions import OutsideFailure
from sightline.flows.file._condition import Condition, parse_condition
from sightline.flows.file._template import TemplateMistake, Values, parse_template, render

VALUES = Values(
    inputs={"name": "Ada", "count": 3, "ratio": 0.5, "deep": True, "off": False, "none": None, "empty": ""},
    steps={
        "make": {"output": '{"items": [{"id": 1}, {"id": 2}], "ok": true}', "exit_code": 0, "status": "ok"},
        "lines": {"output": '{"n": 1}\n{"n": 2}', "exit_code": 3, "status": "error"},
        "words": {"output": "just words", "exit_code": None, "status": "skipped"},
        "evil": {"output": '{"x": "a\\u0000b\\u001b[31mc\\ud800"}', "exit_code": 0, "status": "ok"},
    },
)


def rendered(text: str) -> str:
    template, mistakes = parse_template(text)
    assert mistakes == []
    return render(template, VALUES)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("{{ inputs.name }}", "Ada"),
        ("{{inputs.name}}{{\n  inputs.name }}", "AdaAda"),
        (
            "<{{ inputs.count }} {{ inputs.ratio }} {{ inputs.deep }} {{ inputs.off }} {{ inputs.none }}>",
            "<3 0.5 true false >",
        ),
        ("{{ steps.make.json.items.1.id }}", "2"),
        ("{{ steps.make.json.items.-1.id }}", "2"),
        ("{{ steps.make.json.items.0 }}", '{"id":1}'),
        ("{{ steps.make.json.ok }}", "true"),
        ("{{ steps.lines.json.-1.n }}", "2"),
        ("{{ steps.lines.exit_code }} {{ steps.lines.status }}", "3 error"),
        ("{{ steps.words.output }}", "just words"),
        (r"docker inspect --format '\{{.State}}'", "docker inspect --format '{{.State}}'"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{ { }", "{ { }"),
    ],
)
def test_a_path_becomes_its_value(text: str, result: str) -> None:
    r"""Text as it is, everything else as JSON writes it; \{{ is two plain braces."""
    assert rendered(text) == result


def test_a_value_is_never_read_as_a_template() -> None:
    """What a model wrote is text, also when it looks like a path."""
    values = Values({"x": "{{ inputs.secret }}", "secret": "s"}, {})
    template, _ = parse_template("{{ inputs.x }}")

    assert render(template, values) == "{{ inputs.secret }}"


def test_what_json_smuggles_past_the_filter_is_caught_when_it_is_used() -> None:
    """A control character may be hidden in a JSON escape until the JSON is read."""
    assert rendered("{{ steps.evil.json.x }}") == "abc�"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{{ steps.words.json.x }}", "the output of words is not JSON", "answer with JSON only"),
        ("{{ steps.make.json.nope }}", "there is no nope in steps.make.json", "it has items, ok"),
        ("{{ steps.make.json.items.9 }}", "there is no 9 in steps.make.json.items", "2 items, counted from 0"),
        ("{{ steps.make.json.items.id }}", "there is no id in steps.make.json.items", "2 items"),
        ("{{ steps.make.json.ok.x }}", "there is no x in steps.make.json.ok", "it is a single value"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_is_there(text: str, message: str, hint: str) -> None:
    """An outside failure of the step, with a hint."""
    with pytest.raises(OutsideFailure, match=message) as caught:
        rendered(text)

    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "{{ inputs.name.upper() }}",
        "{{ inputs.__class__.__mro__ }}",
        "{{ 1 + 1 }}",
        "{{ inputs['name'] }}",
        "{{ config }}",
        "{{ inputs.name if inputs.deep }}",
        "{% for x in y %}{{ x }}{% endfor %}",
        "{{ {{ inputs.name }} }}",
    ],
)
def test_anything_but_a_path_is_a_mistake(text: str) -> None:
    """No calls, no attributes, no operators, no code."""
    _, mistakes = parse_template(text)

    assert mistakes


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("inputs.deep", True),
        ("inputs.off", False),
        ("inputs.none", False),
        ("inputs.empty", False),
        ("not inputs.empty", True),
        ("{{ inputs.deep }}", True),
        ("not {{ inputs.deep }}", False),
        ("false", False),
        ("not false", True),
        ('inputs.name == "Ada"', True),
        ("inputs.name == 'Ada'", True),
        ('inputs.name != "Ada"', False),
        ('not inputs.name == "Ada"', False),
        ("inputs.count == 3", True),
        ('inputs.count == "3"', True),
        ("inputs.ratio == 0.5", True),
        ("inputs.deep == true", True),
        ("inputs.none == null", True),
        ("{{ steps.lines.exit_code }} != 0", True),
        ('steps.words.status == "skipped"', True),
        ("steps.make.json.ok", True),
        ("steps.make.json.items.0.id == steps.lines.json.0.n", True),
        ('inputs.name == "not a == path"', False),
    ],
)
def test_a_condition_is_one_test(condition: str, holds: bool) -> None:
    """A side alone is true or not; two sides are compared as the text a template would make of them."""
    parsed = parse_condition(condition)

    assert isinstance(parsed, Condition)
    assert parsed.holds(VALUES) is holds


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "not",
        "inputs.x ==",
        "== 3",
        "inputs.x == 3 == 4",
        "inputs.x = 3",
        "inputs.f()",
        "inputs.a or inputs.b",
        "(true)",
    ],
)
def test_a_condition_that_is_more_or_less_than_one_test_is_a_mistake(condition: str) -> None:
    """With a hint that shows what can be written."""
    parsed = parse_condition(condition)

    assert isinstance(parsed, TemplateMistake)
    assert parsed.hint
