"""What a real CLI was scripted to say and do is what its events say: everything once, nothing else."""

import pytest
from lab import Lab, Script, calls, scripted, steps, words

from sightline.events import AgentStarted, Error, Reasoning, RunEnded, RunStarted, Text, ToolUse, Unknown

pytestmark = pytest.mark.live

HELLO = "Hello!\n\nThis project has:\n\n- `README.md`\n- `src/app.py`, the **program**\n"
UNUSUAL = (
    "混合文字: 日本語、简体中文、한국어. Family: 👨‍👩‍👧‍👦 flag: 🇯🇵 skin: 👍🏽. RTL: שלום עולם. Combining: e\u0301. 𝔘𝔫𝔦."
)

# One block per model response: these must be seen in exactly this order.
IN_ORDER: dict[str, Script] = {
    "text_only": [[{"text": HELLO}]],
    "bash_tool": [
        [{"tool": "Bash", "args": {"command": "echo to-stdout; echo to-stderr >&2"}}],
        [{"text": "One line on each stream."}],
    ],
    "several_commands": [
        [{"tool": "Bash", "args": {"command": "ls"}}],
        [{"tool": "Bash", "args": {"command": "ls"}}],
        [{"tool": "Bash", "args": {"command": "for i in 1 2 3; do\n  echo $i\ndone"}}],
        [{"text": "The same command twice, then a loop."}],
    ],
    "read": [[{"tool": "Read", "args": {"file_path": "README.md"}}], [{"text": "It is a demo project."}]],
    "unicode": [[{"tool": "Bash", "args": {"command": "printf '%s\\n' '日本語 👩🏽‍💻 שלום'"}}], [{"text": UNUSUAL}]],
    "long_command": [
        [{"tool": "Bash", "args": {"command": "echo " + "a rather long line of words " * 20}}],
        [{"text": "Printed."}],
    ],
}

# Several blocks in one response: the order in which they are seen is the CLI's, what is seen is not.
TOGETHER: dict[str, Script] = {
    "over_turns": [
        [{"text": "First the README."}, {"tool": "Read", "args": {"file_path": "README.md"}}],
        [{"text": "Now the lines."}, {"tool": "Bash", "args": {"command": "wc -l data.csv"}}],
        [{"text": "Four lines."}],
    ],
    "in_one_response": [
        [
            {"text": "First the README. "},
            {"tool": "Read", "args": {"file_path": "README.md"}},
            {"text": "Next the data. "},
            {"tool": "Bash", "args": {"command": "head -n 2 data.csv"}},
        ],
        [{"text": "Both seen."}],
    ],
    "side_by_side": [
        [{"tool": "Bash", "args": {"command": "echo same"}}, {"tool": "Bash", "args": {"command": "echo same"}}],
        [{"text": "Both ran."}],
    ],
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_one_block_per_response_is_seen_in_order(lab: Lab, provider: str, name: str) -> None:
    """Words and calls come out exactly as scripted, in order, each once."""
    script = IN_ORDER[name]
    run = lab.run(provider, script)
    assert run.exit_code == 0, run.stderr
    assert steps(run.events) == scripted(script, provider)
    assert run.of(Unknown) == []
    assert len(run.of(RunStarted)) == 1
    assert all(not result.is_error for result in run.results().values())


@pytest.mark.parametrize("name", TOGETHER)
def test_several_blocks_per_response_are_all_seen_once(lab: Lab, provider: str, name: str) -> None:
    """The words in their order, and every call once."""
    script = TOGETHER[name]
    run = lab.run(provider, script)
    seen, expected = steps(run.events), scripted(script, provider)
    assert run.exit_code == 0, run.stderr
    assert words(seen) == words(expected)
    assert calls(seen) == calls(expected)
    assert len(run.results()) == len(set(calls(expected)))


def test_a_failing_command_is_shown_as_failed(lab: Lab, provider: str) -> None:
    """The call's result is an error; its output is kept. Gemini does not say that a command failed."""
    command = "echo about to fail; exit 3"
    run = lab.run(provider, [[{"tool": "Bash", "args": {"command": command}}], [{"text": "It failed."}]])
    result = run.results()[command]
    assert result.is_error == (provider != "gemini")
    assert "about to fail" in result.content
    assert result.exit_code == (None if provider == "gemini" else 3)
    assert words(steps(run.events)) == "It failed."


def test_reasoning_is_not_words(lab: Lab, provider: str) -> None:
    """Thinking becomes `reasoning` where the CLI shows it, and never `text`."""
    run = lab.run(provider, [[{"reasoning": "Let me think about it."}, {"text": "The answer is 15."}]])
    thoughts = "".join(event.text for event in run.of(Reasoning))
    assert words(steps(run.events)) == "The answer is 15."
    assert thoughts in ("Let me think about it.", "")
    assert thoughts or provider in ("gemini", "opencode")


def test_an_api_error_is_shown(lab: Lab, provider: str) -> None:
    """A request the server rejects ends the run with an error that says why, and the CLI's own exit code."""
    run = lab.run(provider, [[{"error": "the request was rejected", "status": 400}]])
    assert run.exit_code != 0
    assert any("the request was rejected" in event.text for event in run.of(Error))
    assert words(steps(run.events)) == ""
    assert all(event.is_error for event in run.of(RunEnded))


def test_an_api_error_after_a_tool_is_shown(lab: Lab, provider: str) -> None:
    """What was done before the failure stays, and the failure is told."""
    run = lab.run(provider, [[{"tool": "Bash", "args": {"command": "ls"}}], [{"error": "no more", "status": 400}]])
    assert run.exit_code != 0
    assert steps(run.events) == [("call", "Bash", "ls")]
    assert any("no more" in event.text for event in run.of(Error))


def test_a_retry_that_works_changes_nothing(lab: Lab, provider: str) -> None:
    """One overloaded answer, then the right one: the words come once and the run succeeds."""
    script: Script = [[{"error": "busy", "status": 503, "times": 1, "retry_after": 1}, {"text": "Here you are."}]]
    run = lab.run(provider, script)
    assert run.exit_code == 0, run.stderr
    assert steps(run.events) == [("text", "Here you are.")]


def test_a_broken_stream_loses_nothing_and_repeats_nothing(lab: Lab, provider: str) -> None:
    """A connection that breaks in the middle of a text: after the CLI's retry the words are there, once."""
    text = "Here comes the final answer, in spite of all."
    run = lab.run(provider, [[{"tool": "Bash", "args": {"command": "ls"}}], [{"text": text, "cut_at": 20, "chunk": 5}]])
    shown = words(steps(run.events))
    if provider == "gemini":  # it does not ask again
        assert shown == text[:20]
        assert len(run.of(Error)) == 1
    else:
        assert shown == text
        assert run.exit_code == 0


def test_delegated_work_never_mixes_into_the_parents_words(lab: Lab, provider: str) -> None:
    """Two subagents: the parent's words are its own, each delegation is one Task, children are under their path."""
    tasks = [
        {
            "tool": "Task",
            "args": {"description": f"Helper {letter}", "prompt": f"Helper {letter}: look at {file}."},
            "agent": [
                [{"text": f"Looking at {file}."}, {"tool": "Bash", "args": {"command": f"wc -l {file}"}}],
                [{"text": f"Helper {letter} reports."}],
            ],
        }
        for letter, file in (("A", "data.csv"), ("B", "README.md"))
    ]
    model = "gpt-5-codex" if provider == "codex" else ""  # newer models delegate without showing it
    run = lab.run(provider, [[{"text": "Two helpers."}, *tasks], [{"text": "Both are done."}]], model=model)
    assert run.exit_code == 0, run.stderr
    assert words(steps(run.events)) == "Two helpers.Both are done."
    assert [event.name for event in run.of(ToolUse) if event.native_name != "wait"] == ["Task", "Task"]
    assert {turn.agent for turn in run.server.turns} == {"main", "Helper A", "Helper B"}
    started = [event.path for event in run.of(AgentStarted)]
    assert len(started) == len(set(started))
    assert {event.agent for event in run.events if isinstance(event, (Text, ToolUse))} <= {"", *started}
    inside = {event.arg for event in run.events if isinstance(event, ToolUse) and event.agent}
    assert inside == ({"wc -l data.csv", "wc -l README.md"} if provider == "claude" else set())  # others keep it in


def test_a_conversation_can_be_resumed(lab: Lab, provider: str) -> None:
    """The session id of one run lets the next one go on: the model is sent what was said before."""
    script: Script = [[{"text": "My name is Ada."}], [{"text": "As I said: Ada."}]]
    first = lab.run(provider, script, prompt="What is your name?")
    second = lab.run(provider, script, prompt="Say it again.", resume=first.session)
    assert words(steps(first.events)) == "My name is Ada."
    assert words(steps(second.events)) == "As I said: Ada.", second.stderr
    assert second.session == first.session


def test_a_refused_call_is_shown_as_failed(lab: Lab, provider: str) -> None:
    """Left to its own rules, a CLI that nobody can answer refuses the command; the refusal is the call's result.

    Codex runs the command in its sandbox instead, where it fails, and shows nothing of it. Opencode then stops.
    """
    lab.allow = False
    command = "touch forbidden.txt"
    run = lab.run(provider, [[{"tool": "Bash", "args": {"command": command}}], [{"text": "I may not."}]])
    assert not (lab.folder / "project/forbidden.txt").exists()
    assert words(steps(run.events)) == ("" if provider == "opencode" else "I may not.")
    assert [result.is_error for result in run.results().values()] in ([True], [] if provider == "codex" else [True])


def test_nothing_leaves_the_machine(lab: Lab, provider: str) -> None:
    """All a CLI asks of the network goes to the stand-in; opencode's look for its plugin package is refused there."""
    run = lab.run(provider, [[{"text": "Hi."}]])
    assert len(run.server.conversations) >= 1
    assert len(run.server.strays) == 0 or provider == "opencode"
