"""Tool calls written as words: what is one, what is not, and that the way a text is cut does not matter."""

import json
import time
from collections.abc import Collection

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.models._textual import HELD_AT_MOST, WrittenCall, WrittenCalls

NAMES = ("read", "write", "readme_of")
READ = '{"name": "read", "arguments": {"path": "a.py"}}'

ONE = [
    pytest.param(f"```json\n{READ}\n```", id="fenced"),
    pytest.param(f"```json {READ}```", id="fenced on one line"),
    pytest.param(f"```\n{READ}\n```", id="fence without a word"),
    pytest.param(f"```tool_call\n{READ}\n```", id="fence with its own word"),
    pytest.param(f"  ```json\n  {READ}\n  ```\n", id="indented fence"),
    pytest.param(f"```json\n{READ}", id="fence never closed"),
    pytest.param(f"<tool_call>{READ}</tool_call>", id="tagged"),
    pytest.param(f"<tool_call>\n{READ}\n</tool_call>\n", id="tagged on lines"),
    pytest.param(f"<tool_call>\n{READ}", id="tag never closed"),
    pytest.param(f"<tool_call>{READ}</tool", id="closing tag cut"),
    pytest.param(f"<function_call>{READ}</function_call>", id="function_call tag"),
    pytest.param(f"<tools>\n{READ}\n</tools>", id="tools tag"),
    pytest.param(f"<|python_tag|>{READ}", id="python tag"),
    pytest.param(f"[TOOL_CALLS][{READ}]", id="mark"),
    pytest.param(f"[TOOL_CALLS] {READ}", id="mark, no list"),
    pytest.param(f"functools[{READ}]", id="functools"),
    pytest.param(READ, id="bare"),
    pytest.param(f"[{READ}]\n", id="bare list"),
    pytest.param(json.dumps(json.loads(READ), indent=4), id="bare, on lines"),
    pytest.param('{"function": "read", "parameters": {"path": "a.py"}}', id="function and parameters"),
    pytest.param('{"function": "read", "args": {"path": "a.py"}}', id="function and args"),
    pytest.param('{"tool": "read", "input": {"path": "a.py"}}', id="tool and input"),
    pytest.param('{"args": {"path": "a.py"}, "name": "read"}', id="arguments first"),
    pytest.param(f'{{"type": "function", "function": {READ}}}', id="as the API writes it"),
    pytest.param('{"name": "read", "arguments": "{\\"path\\": \\"a.py\\"}"}', id="arguments as a text"),
    pytest.param('<tool_call>{"id": 1, "name": "read", "arguments": {"path": "a.py"}}</tool_call>', id="with an id"),
]


def split_calls(text: str, names: Collection[str]) -> tuple[str, list[WrittenCall]]:
    """The words of a whole answer, and the calls written among them."""
    reader = WrittenCalls(names)
    words = reader.feed(text)
    rest, calls = reader.end()
    return words + rest, calls


@pytest.mark.parametrize("text", ONE)
def test_a_call_written_as_words_is_understood_and_its_text_is_no_words(text: str) -> None:
    """Each documented form alone is one call and no words."""
    words, calls = split_calls(text, NAMES)
    assert words.strip() == ""
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [("read", {"path": "a.py"})]


@pytest.mark.parametrize("text", ONE)
def test_words_before_a_call_stay(text: str) -> None:
    """What the model said before is passed on as it is."""
    words, calls = split_calls(f"I look at it:\n{text}", NAMES)
    assert words == "I look at it:\n"
    assert len(calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("No call at all, `code` and <b>tags</b> [link](x) {braces}.", id="words"),
        pytest.param('{"name": "rm", "arguments": {}}', id="a tool that was not offered"),
        pytest.param('{"name": "readme", "arguments": {}}', id="a name that only begins like one"),
        pytest.param('```json\n{"name": "read", "version": 2}\n```', id="no arguments"),
        pytest.param('```json\n{"name": "read"}\n```', id="bare name"),
        pytest.param('{"name": "read", "description": "reads", "parameters": {}}', id="a description"),
        pytest.param('{"name": "read", "parameters": {"type": "object", "properties": {}}}', id="a schema"),
        pytest.param(f"The call is {READ} as I said", id="in the middle of a line"),
        pytest.param(f"{READ} is what I would write", id="with words behind it"),
        pytest.param(f"```json\n{READ}\nand more\n```", id="fence with more in it"),
        pytest.param(f"```python\n{READ}\n```", id="fence of another language"),
        pytest.param(f"[{READ}, 1]", id="a list of other things too"),
        pytest.param('{"name": "read", "arguments": {"path": }}', id="no JSON"),
        pytest.param('{"name": "read", "arguments": [1]}', id="arguments that are a list"),
        pytest.param('{"name": "read", "arguments": {"path": "a', id="cut"),
        pytest.param('{"name": "read", "arguments": {"path": "a"]]', id="wrong brackets"),
        pytest.param("<tool_call>read the file</tool_call>", id="tag around words"),
        pytest.param("```json\n", id="an open fence"),
        pytest.param("\n\n   ``", id="an end that could have been one"),
        pytest.param("<tool_c", id="half an opening"),
    ],
)
def test_what_is_no_call_stays_words_to_the_letter(text: str) -> None:
    """Nothing of it is lost."""
    assert split_calls(text, NAMES) == (text, [])


def test_several_calls_are_found_in_order_and_words_between_them_stay() -> None:
    """Also inside one tag, one list and one fence."""
    write = '{"name": "write", "arguments": {}}'
    for text in (
        f"<tool_call>{READ}</tool_call>\n<tool_call>{write}</tool_call>",
        f"<tools>{READ}\n{write}</tools>",
        f"[TOOL_CALLS][{READ}, {write}]",
        f"```json\n[{READ}, {write}]\n```",
        f"```json\n{READ}\n{write}\n```",
        f"{READ}\n{write}",
    ):
        words, calls = split_calls(text, NAMES)
        assert (words, [call.name for call in calls]) == ("", ["read", "write"]), text
    words, calls = split_calls(f"First.\n{READ}\nThen.\n```json\n{write}\n```\nDone.", NAMES)
    assert (words, len(calls)) == ("First.\nThen.\nDone.", 2)


def test_line_ends_inside_an_argument_are_understood() -> None:
    """Small models do not escape them."""
    _, calls = split_calls('<tool_call>{"name": "write", "arguments": {"text": "a\n\tb```"}}</tool_call>', NAMES)
    assert json.loads(calls[0].arguments) == {"text": "a\n\tb```"}


def test_words_are_not_held_back_without_a_reason() -> None:
    """Only what could be the beginning of a call waits, and no longer than it could."""
    reader = WrittenCalls(NAMES)
    assert reader.feed("Look: <") == "Look: "
    assert reader.feed("b> and ``") == "<b> and ``"
    assert reader.feed("\n```py") == "\n```py"
    assert reader.feed('\n{"na') == '\n{"na'
    assert reader.feed('\n```\n{"na') == "\n```\n"
    assert reader.feed('me": "rx') == '{"name": "rx'
    assert reader.feed("\nend") == "\nend"
    assert reader.end() == ("", [])


def test_giving_up_turns_what_was_held_back_into_words() -> None:
    """A structured call came: nothing of the words is lost, and nothing is held back afterwards."""
    reader = WrittenCalls(NAMES)
    assert reader.feed(f"So.\n{READ}\n<tool_call>{{") == "So.\n"
    assert reader.give_up() == f"{READ}\n<tool_call>{{"
    assert reader.feed(READ) == READ
    assert reader.end() == ("", [])


def test_without_tools_everything_is_words() -> None:
    """Nothing was offered, so nothing is held back."""
    assert WrittenCalls(()).feed(READ) == READ


def test_what_is_held_back_is_bounded() -> None:
    """A call that never ends becomes words; whole or in pieces the same."""
    text = '{"name": "write", "arguments": {"text": "' + "x" * (HELD_AT_MOST + 5000)
    reader = WrittenCalls(NAMES)
    passed = "".join(reader.feed(text[at : at + 1000]) for at in range(0, len(text), 1000))
    assert passed == text
    for whole in (text + '"}}', "[TOOL_CALLS]" + text + '"}}'):
        assert split_calls(whole, NAMES) == (whole, [])


def test_a_long_hostile_text_takes_time_in_proportion() -> None:
    """Beginnings of calls inside beginnings of calls."""
    line = '{"name": "read", "arguments":\n'
    text = line * 4000 + "§"
    started = time.process_time()
    assert split_calls(text, NAMES) == (text, [])
    assert time.process_time() - started < 5


_CRUMBS = st.sampled_from(
    [
        *(parameter.values[0] for parameter in ONE),
        *"`{}[]\"\\\n <>,:x",
        "```", "```json\n", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "functools[", '{"name": "read", ',
        '"arguments": {', '{"name"', "fun", "<t", "  ", "words", READ + "\n",
    ]
)  # fmt: skip


@given(st.lists(_CRUMBS, max_size=12).map("".join), st.data())
@example('[TOOL_CALLS][{"name": "read", "arguments": {}}', None)
def test_the_way_a_text_is_cut_does_not_matter(text: str, data: st.DataObject | None) -> None:
    """Pieces give the same words and calls as the whole, and words and call texts together are the whole text."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=20))) if data else list(range(len(text)))
    reader = WrittenCalls(NAMES)
    words = "".join(reader.feed(text[a:b]) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))
    rest, calls = reader.end()
    assert (words + rest, calls) == split_calls(text, NAMES)
    if not calls:
        assert words + rest == text
    assert all(call.name in NAMES and isinstance(json.loads(call.arguments), dict) for call in calls)


@given(st.text(alphabet='{}[]"`\\\n <>/_tolcafunjsmergp:,', max_size=80))
def test_words_that_are_no_call_are_never_lost(text: str) -> None:
    """Whatever is written, what is not a call comes out again."""
    words, calls = split_calls(text, NAMES)
    assert calls or words == text


@given(st.dictionaries(st.text(), st.recursive(st.text() | st.integers() | st.none(), st.lists), max_size=4))
def test_any_arguments_arrive_as_they_were_written(arguments: dict[str, object]) -> None:
    """Whatever their texts hold: fences, braces, quotes, tags."""
    written = json.dumps({"name": "write", "arguments": arguments})
    for text in (f"```json\n{written}\n```", f"<tool_call>{written}</tool_call>", written):
        words, calls = split_calls(text, NAMES)
        schema = arguments.get("type") == "object" and "properties" in arguments
        if not schema:
            assert (words, [json.loads(call.arguments) for call in calls]) == ("", [arguments])
