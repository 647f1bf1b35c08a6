"""What the page is given to draw of a call: by shape alone, bounded, and nothing where something does not fit."""

import msgspec
import pytest

from sightline.events import TodoState
from sightline.transcript import Reached, TranscriptCall
from sightline.views.web.page._entries import entry_body
from sightline.views.web.page._shapes import phases_of, shape_of


def _call(details=None, args=None, **more) -> TranscriptCall:
    return TranscriptCall("", "abcdef-1", more.pop("name", "anything"), args=args, details=details, **more)


def _steps(items, **more):
    return {"ui": {"kind": "agent_delegation", "mode": "parallel", "items": items, **more}}


def _item(n, status="ok", **more):
    return {"id": str(n), "agent": "Explore", "task": "look", "status": status, **more}


def test_a_review_has_its_findings_and_what_to_ask():
    """Bounded and clean; the prompt is in the words of the console."""
    found = {
        "title": "it rounds",
        "body": "\x1b[31mwhy",
        "file": "a.py",
        "first_line": 3,
        "priority": 0,
        "diff": "@@\n-a",
    }
    details = {
        "ui": {"kind": "review"},
        "target": "main..HEAD",
        "verdict": "approve",
        "summary": "Fine.",
        "left_out": 1,
    }
    shape = shape_of(_call({**details, "findings": [found, *[{"title": "x" * 900}] * 300], "warnings": ["careful"]}))
    assert (shape["kind"], shape["review"], shape["summary"], shape["whole"]) == ("review", "abcdef-1", "Fine.", True)
    assert shape["suffix"] == "approved, 301 findings"
    assert shape["notes"] == ["careful", "1 file left out: a rule denies reading"]
    assert shape["fix"]["one"] == "Fix this finding of a review of main..HEAD:"
    assert len(shape["findings"]) == 200
    first, second, *_ = shape["findings"]
    assert first == {
        "number": 1, "priority": 0, "title": "it rounds", "place": "a.py:3", "path": "a.py", "body": "why",
        "diff": "@@\n-a", "fix": "[P0] a.py:3: it rounds\n\nwhy",
    }  # fmt: skip
    assert len(second["title"]) <= 500


def test_a_finding_is_what_was_reported():
    shape = shape_of(_call({"ui": {"kind": "finding"}, "title": "it rounds", "file": "a.py", "first_line": 3}))
    assert (shape["kind"], shape["place"], shape["priority"]) == ("finding", "a.py:3", 2)


def test_a_review_is_no_command_of_the_user():
    """It has no `!` before it, and is no job of the session; what ran it is the user."""

    class Outputs:
        def call_id(self, number, call):
            return call.id

        def total(self, number, call):
            return 0

        missing = total

    call = _call(args={"target": "x"}, name="Review", source="person", is_job=True)
    body = entry_body(1, call, Outputs(), live=True)
    assert (body["by"], body["own"], body["is_job"], body["state"]) == ("", True, False, "running")


@pytest.mark.parametrize("name", ["task", "subagent", "bash", "weather"])
def test_steps_are_known_by_their_shape_not_by_the_tool(name):
    """delegation-ui.md, no tool-name special case: any tool that tells of steps shows them."""
    shape = shape_of(_call(_steps([_item(1), _item(2, "error"), _item(3, "running")], activeId="3"), name=name))
    assert (shape["kind"], shape["suffix"], shape["total"]) == ("steps", "1 ok · 1 err / 3", 3)
    assert [item["active"] for item in shape["items"]] == [False, False, True]


def test_the_suffix_names_errors_only_where_there_are_some():
    """delegation-ui.md, suffix."""
    assert shape_of(_call(_steps([_item(1), _item(2, "pending")])))["suffix"] == "1 ok / 2"


def test_steps_are_cut_to_what_is_shown():
    """delegation-ui.md, caps and truncation: fifty items; agent 24, task 80 and preview 120 characters, first lines."""
    long = _item(1, agent="a" * 30, task="t" * 90 + "\nmore", preview="p" * 200 + "\nmore")
    shape = shape_of(_call(_steps([long] * 60)))
    item = shape["items"][0]
    assert (len(shape["items"]), shape["total"]) == (50, 60)
    assert [len(item[name]) for name in ("agent", "task", "preview")] == [24, 80, 120]
    assert all(item[name].endswith("…") for name in ("agent", "task", "preview"))


@pytest.mark.parametrize(
    "args",
    [{"agent": "a", "task": "t"}, {"tasks": [{"agent": "a", "task": "t"}]}, {"chain": [{"agent": "a", "task": "t"}]}],
)
def test_arguments_of_that_shape_are_the_plan(args):
    """delegation-ui.md, static plan: shown at once, without statuses, and it hides no output."""
    shape = shape_of(_call(args=args))
    assert [(item["agent"], item["status"]) for item in shape["items"]] == [("a", "")]
    assert not shape.get("whole")
    assert not shape["suffix"]


_MALFORMED = [
    _steps([_item(1, "bogus")]),
    _steps("no list"),
    {"ui": {"kind": "agent_delegation", "mode": "x", "items": []}},
    {"ui": "text"},
    {"ui": {"kind": "diff"}, "diff": 5},
    {"ui": {"kind": "todo"}, "phases": ["x"]},
    {"ui": {"kind": "jobs"}, "jobs": {}},
    {"ui": {"kind": "table"}, "columns": ["a"], "rows": ["b"]},
    {"ui": {"kind": "image", "media_type": "image/svg+xml"}},
    {"ui": {"kind": "image", "media_type": "text/html"}},
    {"ui": {"kind": ["list"]}},
    {"ui": {"kind": "question"}, "question": "?"},
    7,
    "text",
    [],
]


@pytest.mark.parametrize("details", _MALFORMED)
def test_what_does_not_fit_is_no_shape(details):
    """The call's output is shown instead."""
    assert shape_of(_call(details, content="said")) is None


def test_answers_to_several_questions_are_listed():
    answers = [
        {"question": "Which?", "chosen": ["a", "b"], "text": ""},
        {"question": "Why?", "chosen": [], "text": "it fits"},
        {"question": "When?", "chosen": [], "text": ""},
        "none",
    ]
    shape = shape_of(_call({"ui": {"kind": "question"}, "question": "Which? · Why? · When?", "answers": answers}))
    assert shape["said"] == ["Which?: a, b", "Why?: it fits"]


def test_a_long_diff_is_cut_and_says_so():
    """Bounded everywhere, visibly."""
    shape = shape_of(_call({"ui": {"kind": "diff"}, "diff": "+x\n" * 100_000}))
    assert shape["cut"]
    assert len(shape["text"]) <= 64 * 1024


def test_text_for_the_page_has_no_controls():
    """Details may come from anywhere."""
    shape = shape_of(_call({"ui": {"kind": "diff"}, "diff": "+\x1b]0;x\x07a\x9bb\u202e", "path": "a\x1b[31m\nb"}))
    assert not any(character in shape["text"] + shape["path"] for character in "\x1b\x07\x9b\u202e")
    assert "\n" not in shape["path"]


def test_arguments_on_their_way_are_shown_from_their_end():
    """While the model writes, before there is a call."""
    shape = shape_of(_call(written='{"content": "' + "x" * 10_000 + "the end"))
    assert shape["kind"] == "writing"
    assert shape["text"].endswith("the end")
    assert len(shape["text"]) < 5000


def test_a_result_that_is_json_is_a_tree():
    """Whoever returned it; a failure is not looked into."""
    assert shape_of(_call(content='{"a": [1]}')) == {"kind": "json", "value": {"a": [1]}, "whole": True}
    assert shape_of(_call(content='{"a": [1]}', is_error=True))["kind"] == "problem"
    assert shape_of(_call(content='{"a": ')) is None


def test_why_a_call_failed_is_text_for_a_reader():
    """A few lines without colours, of a call that printed nothing; what is more than that is output."""
    assert shape_of(_call(content="no such tool\n", is_error=True)) == {
        "kind": "problem",
        "text": "no such tool",
        "whole": True,
    }
    assert shape_of(_call(content="fine")) is None
    assert shape_of(_call(content="")) is None
    for content in ("", "long" * 1000, "line\n" * 20, "\x1b[31mred\x1b[0m"):
        assert shape_of(_call(content=content, is_error=True)) is None
    assert shape_of(_call(content="exit code 1", is_error=True, received=5)) is None
    assert shape_of(_call({"artifact": "artifact://x"}, content="exit code 1", is_error=True)) is None


@pytest.mark.parametrize(
    ("details", "shown"),
    [
        ({"by": "user", "reason": "not needed"}, "you: not needed"),
        ({"by": "user"}, "by you"),
        ({"by": "nobody"}, "no user was there to ask"),
        ({"by": "rule", "rule": "exec(rm *)"}, "not allowed (rule: exec(rm *))"),
    ],
)
def test_of_a_refused_call_the_reason_is_shown(details, shown):
    """As in the console: what the model read of it is neither text nor output."""
    call = _call({"ended": "refused", **details}, content="the user refused: run `ls`. Reason: …", is_error=True)
    shape = shape_of(call)
    assert (shape and shape["text"]) == shown
    assert entry_body(1, call, _OneRow(), live=True)["total"] == 0


def test_a_plan_is_grouped_by_phase():
    """The todo of any provider: rows of text, status and, where there is one, phase."""
    rows = [
        {"text": "a", "status": "completed", "phase": "One"},
        {"text": "b", "status": "pending", "phase": "Two"},
        "odd",
    ]
    assert [(phase["name"], len(phase["tasks"])) for phase in phases_of(TodoState.of(rows))] == [("One", 1), ("Two", 1)]


class _NoOutput:
    def call_id(self, number, call):
        return call.id

    def total(self, number, call):
        return 0

    def missing(self, number, call):
        return False


class _OneRow(_NoOutput):
    def total(self, number, call):
        return 1


def test_long_arguments_are_cut_and_can_be_sent():
    """A call may be given a whole file."""
    body = entry_body(1, _call(args={"content": "x" * 100_000}), _NoOutput(), live=True)
    assert len(msgspec.json.encode(body)) < 20_000
    assert body["args"].endswith("…")


def test_a_call_says_whether_the_person_made_it():
    """`!` in the console or on the page: a call like any other, but theirs; `!!`: and nobody else's."""

    def said(source, **args):
        body = entry_body(1, _call(source=source, args={"command": "pwd", **args}), _NoOutput(), live=True)
        return body["by"], body["private"], body["args"]

    assert said("person") == ("person", False, None)
    assert said("person", private=True) == ("person", True, None)
    assert said("agent") == ("", False, None)
    assert said("claude", private=True) == ("", False, {"command": "pwd", "private": True})


@pytest.mark.parametrize(("ended", "state"), [("refused", "refused"), ("job", "job"), ("cancelled", "cancelled")])
def test_how_a_call_ended_is_said(ended, state):
    """Refused, gone on as a job, cancelled: none of them is a failure like any other."""
    body = entry_body(1, _call({"ended": ended}, content="x", is_error=ended != "job"), _NoOutput(), live=True)
    assert body["state"] == state


def test_the_page_is_told_what_a_command_connected_to() -> None:
    """In one line, the same as everywhere."""
    call = _call(args={"command": "make"}, network={"a.org:443": Reached("refused", 1)})
    assert entry_body(1, call, _NoOutput(), live=True)["network"] == "network: a.org:443 refused"
    assert entry_body(1, _call(args={"command": "make"}), _NoOutput(), live=True)["network"] == ""
