"""Calls as the page gets them: what is said of one besides its output."""

import pytest

from sightline.transcript import TranscriptCall
from sightline.views.web.page._entries import entry_body


class _Outputs:
    def call_id(self, number, call):
        return call.id

    def total(self, number, call):
        return 0

    def missing(self, number, call):
        return False


@pytest.mark.parametrize(
    ("details", "source", "outside"),
    [
        ({"sandboxed": False}, "agent", True),
        ({"sandboxed": True}, "agent", False),
        ({"sandboxed": False}, "person", False),
        ({}, "codex", False),  # it has no sandbox of ours
        (None, "agent", False),
    ],
)
def test_a_command_that_no_sandbox_held_says_so(details, source, outside):
    """An agent's own, that was to be in ours; as the console has it."""
    call = TranscriptCall("", "abcdef-1", "Bash", args={"command": "make"}, details=details, content="", source=source)
    assert entry_body(1, call, _Outputs(), live=False)["outside"] is outside


@pytest.mark.parametrize(("arg", "question"), [("Which?", ""), ("Whi…", "Which?")])
def test_a_question_is_said_once(arg, question):
    """By the row itself where that has all of it, else below it."""
    details = {"ui": {"kind": "question"}, "question": "Which?", "chosen": ["red"], "text": ""}
    call = TranscriptCall("", "abcdef-1", "ask", arg=arg, args={"question": "Which?"}, details=details, content="red")
    shape = entry_body(1, call, _Outputs(), live=False)["shape"]
    assert (shape["question"], shape["said"]) == (question, ["red"])
