"""Chat completions as servers really send them: fragments of calls, odd fields, breaks, and answers sent again."""

import json
import time

import pytest

from sightline.events import Error, Notice, Reasoning, State, Text, ToolArgs, ToolUse
from sightline.providers import recognise
from sightline.providers.openai_compatible import recognises

from .chat_wire import DONE, body, calls, chunk, events_of, fragment, kinds, thoughts, words


def test_a_server_that_repeats_id_and_name_is_understood():
    """llama.cpp: name and id in every fragment, the old function_call beside it, nulls everywhere."""
    deltas = [
        {
            "role": None,
            "content": None,
            "function_call": {"name": "run_command", "arguments": piece},
            **fragment(piece, "run_command", ident="call_1"),
        }
        for piece in ("", '{"comm', 'and":"ls"}')
    ]
    events = events_of(b"".join(chunk(delta) for delta in deltas) + chunk({}, "tool_calls") + DONE)
    assert calls(events) == [("run_command", {"command": "ls"})]
    assert "".join(event.delta for event in events if isinstance(event, ToolArgs)) == '{"command":"ls"}'


def test_the_old_function_call_counts_where_there_is_no_other():
    function = {"name": "read_file", "arguments": '{"path":"a"}'}
    assert calls(events_of(body({"content": None, "function_call": function}))) == [("read_file", {"path": "a"})]
    streamed = chunk({"function_call": {"name": "read_file", "arguments": ""}})
    streamed += chunk({"function_call": {"arguments": '{"path":"a"}'}}, "function_call") + DONE
    assert calls(events_of(streamed)) == [("read_file", {"path": "a"})]


@pytest.mark.parametrize("index", [0, None])
def test_calls_are_told_apart_by_id_where_the_index_does_not(index):
    """Servers that give every call the index 0, or none."""
    deltas = [fragment(f'{{"path":"{x}"}}', "read_file", index=index, ident=f"call_{x}") for x in "ab"]
    events = events_of(b"".join(chunk(delta) for delta in deltas) + chunk({}, "tool_calls") + DONE)
    assert calls(events) == [("read_file", {"path": "a"}), ("read_file", {"path": "b"})]


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_are_told_apart_by_their_whole_arguments(index):
    """A name after those is another call; a name that is repeated before is not."""
    stream = chunk(fragment('{"p":', "read", index)) + chunk(fragment(" 1}", "read", index))
    stream += chunk(fragment('{"p": 2}', "read", index)) + chunk({}, "tool_calls") + DONE
    assert calls(events_of(stream)) == [("read", {"p": 1}), ("read", {"p": 2})]


def test_an_odd_usage_does_not_cost_the_words_beside_it():
    """Whatever is said about tokens, what the model said is shown."""
    events = events_of(chunk({"content": "a"}, "stop", usage=[3]) + DONE)
    assert words(events) == "a"


def test_fragments_of_two_calls_may_alternate():
    """The calls keep the order in which they began."""
    deltas = [
        fragment("", "read_file", 0, "a"),
        fragment("", "run_command", 1, "b"),
        fragment('{"path"', index=0),
        fragment('{"command":', index=1),
        fragment(':"x"}', index=0),
        fragment('"ls"}', index=1),
    ]
    events = events_of(b"".join(chunk(delta) for delta in deltas) + chunk({}, "tool_calls") + DONE)
    assert calls(events) == [("read_file", {"path": "x"}), ("run_command", {"command": "ls"})]


def test_a_call_without_arguments_is_shown_before_the_words_that_follow_it():
    stream = chunk(fragment("", "list_files", ident="a")) + chunk({"content": "Done."}, "stop") + DONE
    assert kinds(events_of(stream))[2:4] == ["ToolUse", "Text"]


@pytest.mark.parametrize("arguments", ['{"command": "ls', ""])
def test_a_call_that_was_cut_is_announced_and_not_shown_as_made(arguments):
    """A stream that breaks inside the arguments invents no call."""
    events = events_of(chunk(fragment(arguments, "run_command", ident="a")))
    assert not calls(events)
    assert any(isinstance(event, Notice) and "run_command was cut off" in event.text for event in events)


def test_a_call_whose_arguments_were_complete_survives_a_break():
    events = events_of(chunk(fragment('{"command": "ls"}', "run_command", ident="a")))
    assert calls(events) == [("run_command", {"command": "ls"})]


@pytest.mark.parametrize("form", ["whole", "streamed"])
def test_a_call_cut_by_the_token_limit_is_no_call(form):
    call = {"id": "a", "function": {"name": "run_command", "arguments": '{"comm'}}
    data = body({"tool_calls": [call]}, "length") if form == "whole" else chunk({"tool_calls": [call]}, "length") + DONE
    events = events_of(data)
    assert not calls(events)
    assert [event.level for event in events if isinstance(event, Notice)] == ["warning"]


def test_arguments_that_are_not_json_are_kept_as_they_are():
    """The model may write nonsense; the call was made all the same."""
    call = {"id": "a", "function": {"name": "run_command", "arguments": "ls -l\x1b[31m"}}
    (use,) = [event for event in events_of(body({"tool_calls": [call]})) if isinstance(event, ToolUse)]
    assert (use.name, use.arg, use.args) == ("Bash", "", "ls -l")


def test_arguments_may_be_an_object_and_tools_may_be_custom():
    given_object = {"id": "a", "function": {"name": "read_file", "arguments": {"path": "x"}}}
    custom = {"id": "b", "type": "custom", "custom": {"name": "code", "input": "print(1)"}}
    assert calls(events_of(body({"tool_calls": [given_object, custom]}))) == [
        ("read_file", {"path": "x"}),
        ("code", "print(1)"),
    ]


@pytest.mark.parametrize(
    ("native", "common"),
    [
        ("read_file", "Read"),
        ("write_file", "Write"),
        ("edit_file", "Edit"),
        ("run_command", "Bash"),
        ("run_shell_command", "Bash"),
        ("search_files", "Grep"),
        ("glob", "Glob"),
        ("Task", "Task"),
        ("web_search", "WebSearch"),
        ("deploy", "deploy"),
    ],
)
def test_equivalent_tools_get_the_common_name(native, common):
    """US3: the provider's own name is always kept beside it."""
    call = {"id": "a", "function": {"name": native, "arguments": "{}"}}
    (use,) = [event for event in events_of(body({"tool_calls": [call]})) if isinstance(event, ToolUse)]
    assert (use.name, use.native_name) == (common, native)


def test_content_may_be_a_list_of_parts():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "one "},
        {"type": "image_url", "image_url": {}},
        "two",
    ]
    events = events_of(body({"content": parts}))
    assert (thoughts(events), words(events)) == ("hm", "one two")
    assert [event.text for event in events if isinstance(event, Notice)] == ["a part of type image_url is not shown"]


def test_thinking_and_refusals_are_read_from_every_field_they_come_in():
    assert thoughts(events_of(body({"content": "x", "reasoning": "why"}))) == "why"
    assert words(events_of(body({"content": None, "refusal": "No."}))) == "No."


def test_thinking_and_words_are_separate_blocks():
    deltas = [
        {"reasoning_content": "a"},
        {"reasoning_content": "b"},
        {"content": "c"},
        {"reasoning": "d"},
        {"content": "e"},
    ]
    events = events_of(b"".join(chunk(delta) for delta in deltas) + chunk({}, "stop") + DONE)
    said = [(type(e).__name__, e.text, e.block) for e in events if isinstance(e, (Text, Reasoning))]
    assert said == [
        ("Reasoning", "a", 1),
        ("Reasoning", "b", 1),
        ("Text", "c", 2),
        ("Reasoning", "d", 3),
        ("Text", "e", 4),
    ]


def test_only_the_first_choice_is_shown():
    choices = [{"index": n, "message": {"content": f"answer {n}"}, "finish_reason": "stop"} for n in (0, 1)]
    assert words(events_of(json.dumps({"id": "r", "choices": choices}).encode())) == "answer 0"
    other = chunk({"content": "no"}).replace(b'"index": 0', b'"index": 1')
    assert words(events_of(chunk({"content": "yes"}) + other + chunk({}, "stop") + DONE)) == "yes"


def test_an_escape_sequence_split_over_two_chunks_is_removed_whole():
    """Rule 4: one filter per block, so a sequence cannot hide in a seam."""
    events = events_of(chunk({"content": "a\x1b["}) + chunk({"content": "31mb"}) + chunk({}, "stop") + DONE)
    assert words(events) == "ab"


def test_half_a_character_in_each_of_two_chunks_is_one_character():
    """A surrogate pair escaped in two deltas is accepted, though strict JSON decoders refuse it."""
    first = chunk({"content": "x"}).replace(b'"x"', b'"\\ud83d"')
    second = chunk({"content": "x"}).replace(b'"x"', b'"\\ude00!"')
    assert words(events_of(first + second + chunk({}, "stop") + DONE)) == "\U0001f600!"


def test_a_stream_without_done_is_whole_once_it_finished():
    events = events_of(chunk({"content": "x"}, "stop"))
    assert not [event for event in events if isinstance(event, Error)]


def test_an_error_inside_a_stream_ends_it():
    error = b'data: {"error": {"message": "Overloaded", "code": 529}}\n\n'
    events = events_of(chunk({"content": "a"}) + error + DONE)
    assert kinds(events)[2:] == ["Text", "Error", "TurnEnded", "RunEnded"]
    assert events[3].text == "API error: Overloaded (529)"
    assert "try again later" in events[3].hint


def test_an_answer_sent_again_after_a_break_adds_only_the_rest():
    """After a broken stream a re-sent text that begins with what was shown adds the rest, a re-sent call nothing."""
    opening = {"role": "assistant", "content": ""}
    broken = chunk(opening) + chunk({"content": "Here co"}) + chunk(fragment("{}", "list_files", ident="a"))
    broken += chunk({"content": "mes "})
    again = chunk(opening, ident="r2") + chunk({"content": "Here comes"}, ident="r2")
    again += chunk(fragment("{}", "list_files", ident="b"), ident="r2")
    again += chunk({"content": " the rest."}, "stop", ident="r2") + DONE
    events = events_of(broken + again)
    assert words(events) == "Here comes the rest."
    assert calls(events) == [("list_files", {})]


@pytest.mark.parametrize("ident", ["", "filter"])
def test_a_chunk_before_the_answer_is_no_answer_that_broke(ident):
    """Azure: the verdict of its filter comes first, in a chunk without choices and with an id that is not one."""
    verdict = {"id": ident, "object": "", "choices": [], "prompt_filter_results": []}
    answer = chunk({"role": "assistant", "content": ""}) + chunk({"content": "Hi"}) + chunk({}, "stop") + DONE
    events = events_of(b"data: " + json.dumps(verdict).encode() + b"\n\n" + answer)
    assert kinds(events)[-3:] == ["Text", "TurnEnded", "RunEnded"]
    assert kinds(events).count("TurnStarted") == 1


def test_a_stream_cut_after_the_first_chunk_says_so_though_that_had_no_id():
    events = events_of(b'data: {"id": "", "object": "", "choices": []}\n\n')
    assert [event.text for event in events if isinstance(event, Error)] == ["the stream ended early"]


def test_a_server_may_give_every_chunk_its_own_id_and_role():
    """It is one answer all the same; the next one begins after it finished."""
    pieces = [chunk({"role": "assistant", "content": x}, ident=f"r{n}") for n, x in enumerate(("Hel", "lo ", "you"))]
    again = chunk({"role": "assistant", "content": "Hel"}, "stop", ident="s1")
    events = events_of(b"".join(pieces) + chunk({"role": "assistant"}, "stop", ident="r9") + again + DONE)
    assert words(events) == "Hello youHel"
    assert kinds(events).count("TurnEnded") == 2
    assert not [event for event in events if isinstance(event, (Error, Notice))]


def test_a_preview_ends_at_a_carriage_return_however_the_arguments_came():
    for arguments in ('{"command": "echo a\\rrm -rf /"}', {"command": "echo a\rrm -rf /"}):
        call = {"id": "a", "function": {"name": "run_command", "arguments": arguments}}
        (use,) = [event for event in events_of(body({"tool_calls": [call]})) if isinstance(event, ToolUse)]
        assert (use.arg, use.args) == ("echo a", {"command": "echo arm -rf /"})


def test_an_answer_that_differs_after_a_break_is_shown_whole_after_a_notice():
    opening = {"role": "assistant", "content": ""}
    broken = chunk(opening) + chunk({"content": "Here comes "})
    again = chunk(opening, ident="r2") + chunk({"content": "Here is "}, ident="r2")
    events = events_of(broken + again + chunk({"content": "more."}, "stop", ident="r2") + DONE)
    assert words(events) == "Here comes Here is more."
    assert "Notice" in kinds(events)


def test_another_model_in_the_answer_is_a_changed_state():
    events = events_of(body({"content": "a"}) + b"\n" + body({"content": "b"}).replace(b'"m"', b'"m2"'))
    assert [event.value for event in events if isinstance(event, State)] == ["m2"]


def test_two_kinds_of_words_in_one_chunk_are_both_filtered():
    """A held-back escape of the thinking must not let the words behind it through unfiltered."""
    events = events_of(chunk({"reasoning_content": "\x1b", "content": "\x1b[31mred"}) + DONE)
    assert words(events) == "red"
    assert thoughts(events) == ""


@pytest.mark.parametrize(
    "line",
    [b'{"error":"deprecated"}', b'{"error":{"code":1}}', b'{"error":{"message":"x"},"level":"warn"}', b'{"error":'],
)
def test_a_log_line_that_tells_of_an_error_is_not_an_answer_of_a_server(line):
    """What follows it decides."""
    assert not recognises(line)
    found = recognise(line + b'\n{"type":"thread.started","thread_id":"x"}\n')
    assert found is not None
    assert found.name == "codex"


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"data: ", b"event: error\ndata: ", b": hi\n\ndata:"])
def test_an_error_body_is_recognised_in_every_form(before):
    """An object with a message, alone or with the id of a user beside it."""
    assert recognises(before + b'{"error":{"message":"x","code":401},"user_id":"u"}\n\n')
    assert recognises(before + b'{\n  "error": {\n    "message": "x"\n  }\n}\n')


@pytest.mark.parametrize("head", [b": " * 50_000 + b"x", b": \n" * 30_000 + b"x", b" " * 100_000, b"data: " * 20_000])
def test_recognising_takes_no_longer_than_the_text_is_long(head):
    """What takes this long by its first power would take forever by any other."""
    begun = time.process_time()
    assert not recognises(head)
    assert time.process_time() - begun < 1
