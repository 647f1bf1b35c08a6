"""`flow check`: every mistake of a file, once, with its line and a hint, before anything runs."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Event
from sightline.flows import FlowInvalid, check, load

Write = Callable[..., Path]


def found(path: Path) -> list[tuple[int, str, str]]:
    return [(finding.line, finding.message, finding.hint) for finding in check(path)]


def test_a_file_with_ten_mistakes_gives_ten_findings(write: Write) -> None:
    """Each with its own line and what to do; none hides another, none is a mere consequence of another."""
    path = write("""
        name: ten
        inputs:
          depth:
            type: integer
          count:
            type: int
            default: many
        steps:
          - id: build
            run: make {{ inputs.cuont }}
            timeout: 5m
          - id: review
            provider: cloude
            prompt: Look at {{ steps.build.output }}
            need: [build]
          - id: review
            needs: [biuld]
            run: echo {{ steps.build.output }}
          - id: ask
            provider: codex
            prompt: hi
            output_format: yaml
          - id: a
            needs: [b]
            run: echo a
          - id: b
            needs: [a]
            run: echo b
    """)

    assert found(path) == [
        (4, "unknown type: integer", "did you mean int?"),
        (7, "default of input count is not a whole number", "its type is int"),
        (10, "{{ inputs.cuont }}: there is no input cuont", "did you mean count?"),
        (11, "timeout must be a number above 0", "in seconds, such as 300"),
        (13, "unknown provider: cloude", "did you mean claude?"),
        (15, "unknown key need in a step", "did you mean needs?"),
        (16, "there are two steps review", "the first is on line 12; rename one"),
        (17, "needs names an unknown step biuld", "did you mean build?"),
        (22, "unknown output_format: yaml", "known: text, json"),
        (23, "steps wait for one another: a → b → a", "remove one of these needs"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("", 1, "the file is empty", "a flow needs a name and steps"),
        ("# nothing\n", 1, "the file is empty", "a flow needs a name and steps"),
        ("- a\n- b\n", 1, "a flow must be a mapping", "begin with name: NAME, then steps:"),
        ("name: x\nsteps:\n\t- id: a\n", 3, "not valid YAML", "indent with spaces; YAML does not allow tabs there"),
        ("name: x\nsteps: [a\n", 2, "not valid YAML", "check the indentation"),
        ("name: x\nsteps:\n  - id: a\n    prompt: a: b\n", 4, "not valid YAML", "put quotes around a value"),
        ("name: x\n---\nname: y\n", 2, "not valid YAML", "a file holds one flow"),
        ("name: *x\n", 1, "not valid YAML", "put quotes around a value that begins with *"),
        ("name: x\nsteps:\n  - id: a\n    run: {{ inputs.x }} y\n", 4, "not valid YAML", "put quotes around"),
        ("name: \x07\n", 1, "a control character", "remove it"),
        ("name: x\nsteps: &a [*a]\n", 2, "*a refers to itself", "remove the alias"),
        ("name: x\nsteps: " + "[" * 70 + "]" * 70, 2, "nested deeper than 64 levels", "flatten it"),
    ],
)
def test_a_file_that_is_no_flow_at_all_is_one_finding(
    write: Write, text: str, line: int, message: str, hint: str
) -> None:
    """With the line to look at and what to do there; never a traceback."""
    ((found_line, found_message, found_hint),) = found(write(text))

    assert (found_line, found_message[: len(message)], found_hint[: len(hint)]) == (line, message, hint)


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    """Also when it is missing or a folder."""
    assert found(tmp_path / "no.yaml")[0][1].endswith("no.yaml: No such file or directory")
    assert found(tmp_path)[0][1].endswith("Is a directory")
    assert found(Path("no\0file"))[0][1].endswith("null byte")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_read(device: str) -> None:
    """One of them has no end."""
    assert found(Path(device)) == [(1, f"{device} is not a file", "name a file with a flow in it")]


def test_a_flow_may_come_through_a_pipe(tmp_path: Path) -> None:
    """As from a shell's <(…), which is open already."""
    reading, writing = os.pipe()
    os.write(writing, b"name: x\nsteps: [{id: a, run: ls}]\n")
    os.close(writing)
    assert found(Path(f"/dev/fd/{reading}")) == []
    os.close(reading)


def test_a_named_pipe_is_not_read(write: Write, tmp_path: Path) -> None:
    """Opening it waits until some program writes to it, which may be never. So with the file of a prompt."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert found(pipe) == [(1, f"{pipe} is not a file", "name a file with a flow in it")]
    path = write("name: x\nsteps:\n  - {id: a, provider: claude, prompt_file: pipe}\n")
    assert [message for _, message, _ in found(path)] == ["prompt_file pipe is not a file"]


def test_a_file_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    """The line of the first wrong byte."""
    path = tmp_path / "flow.yaml"
    path.write_bytes(b"name: x\nsteps:\n  - id: caf\xe9\n")

    assert found(path) == [(3, "the file is not UTF-8 text", "save it as UTF-8")]


def test_a_file_over_a_megabyte_is_not_read(tmp_path: Path) -> None:
    """Bounded everywhere."""
    path = tmp_path / "flow.yaml"
    path.write_text("# " + "x" * 1024 * 1024)

    assert found(path)[0][1] == "the file is larger than 1 MB"


def test_aliases_that_multiply_are_stopped_before_they_cost_anything(write: Write) -> None:
    """Nine levels of nine aliases would be 400 million values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    ((line, message, _),) = found(write("\n".join(lines)))

    assert message == "more than 100000 values, aliases counted"
    assert line <= 6


def test_an_alias_may_be_used_to_say_a_thing_once(write: Write) -> None:
    """Anchors are YAML; only their abuse is refused."""
    path = write("""
        name: alias
        steps:
          - id: a
            run: "true"
            retry: &twice {attempts: 2}
          - id: b
            run: "true"
            retry: *twice
    """)

    assert found(path) == []
    assert load(path).steps["b"].retry.attempts == 2


def test_a_key_that_is_there_twice_is_found_at_any_depth(write: Write) -> None:
    """YAML itself would silently take the last one."""
    path = write("""
        name: twice
        steps:
          - id: a
            provider: openai_compatible
            prompt: hi
            prompt: ho
            options: {deep: {x: 1, x: 2}}
        name: again
    """)

    assert [(line, message) for line, message, _ in found(path)] == [
        (6, "prompt is there twice"),
        (7, "x is there twice"),
        (8, "name is there twice"),
    ]


STEP_MISTAKES = [
    ("- id: a", "a step does nothing", "give it run, or provider and prompt"),
    ("- run: ls", "a step has no id", "add id: NAME"),
    ("- ls", "a step must be a mapping", "write each step as"),
    ("- {id: a b, run: ls}", "a step's id cannot be 'a b'", "use letters"),
    ("- {id: 1a, run: ls}", "a step's id cannot be '1a'", "use letters, digits, _ and -, at most 64, beginning with a"),
    ("- {id: a/b, run: ls}", "a step's id cannot be 'a/b'", "use letters"),
    ("- {id: a, run: ls, provider: claude, prompt: x}", "a step has both run and provider", "a step is a command or"),
    ("- {id: a, run: ls, model: x}", "model belongs to an agent step, and this is a command", "remove it"),
    ("- {id: a, run: []}", "run is empty", "write a command"),
    ("- {id: a, run: [ls, [x]]}", "a word of run must be text, not a list", "put it in quotes"),
    ("- {id: a, run: }", "run is empty", "give it a value"),
    ("- {id: a, prompt: x}", "an agent step has no provider", "add provider: native"),
    ("- {id: a, provider: claude}", "an agent step has no prompt", "add prompt: TEXT or prompt_file: FILE"),
    ("- {id: a, provider: claude, promt: x}", "unknown key promt in a step", "did you mean prompt?"),
    ("- {id: a, provider: gemni, prompt: x}", "unknown provider: gemni", "did you mean gemini?"),
    ("- {id: a, provider: zzz, prompt: x}", "unknown provider: zzz", "known: native, claude, codex, gemini, opencode"),
    ("- {id: a, provider: claude, prompt: x, prompt_file: y}", "a step has both prompt and prompt_file", "remove one"),
    ("- {id: a, provider: claude, prompt_file: no.md}", "prompt_file no.md does not exist", "its path is relative to"),
    ("- {id: a, provider: claude, prompt_file: .}", "prompt_file . cannot be read: Is a directory", "its path is"),
    ("- {id: a, provider: claude, prompt: {x: y}}", "prompt must be text, not a mapping", "put it in quotes"),
    ("- {id: a, provider: claude, prompt: !!python/name:os.system x}", "prompt has the tag python/name:os.system", ""),
    ("- {id: a, provider: claude, prompt: x, options: [1]}", "options must be a mapping", "write name: value"),
    (
        "- {id: a, provider: openai_compatible, prompt: x, options: {a: !x 1}}",
        "options.a cannot be read as a value",
        "remove its tag",
    ),
    ("- {id: a, provider: claude, prompt: x, options: {a: 1}}", "claude takes no options: a", "remove it"),
    ("- {id: a, provider: claude, prompt: x, output_format: jsn}", "unknown output_format: jsn", "did you mean json?"),
    ("- {id: a, run: ls, timeout: 0}", "timeout must be a number above 0", "in seconds"),
    ("- {id: a, run: ls, timeout: -1}", "timeout must be a number above 0", "in seconds"),
    ("- {id: a, run: ls, timeout: .inf}", "timeout must be a number above 0", "in seconds"),
    ('- {id: a, run: ls, timeout: !!int ""}', "timeout must be a number above 0", "in seconds"),
    (f"- {{id: a, run: ls, timeout: {'9' * 400}}}", "timeout must be a number above 0", "in seconds"),
    (f"- {{id: a, run: ls, timeout: {'9' * 5000}}}", "timeout must be a number above 0", "in seconds"),
    ("- {id: a, run: ls, timeout: true}", "timeout must be a number above 0", "in seconds"),
    ("- {id: a, run: ls, retry: 3}", "retry must have attempts, and may have delay", "write retry: {attempts: 3"),
    ("- {id: a, run: ls, retry: {}}", "retry has no attempts", "write retry"),
    ("- {id: a, run: ls, retry: {attempts: 0}}", "attempts must be a whole number of at least 1", "how often"),
    ("- {id: a, run: ls, retry: {attempts: 1.5}}", "attempts must be a whole number of at least 1", "how often"),
    ('- {id: a, run: ls, retry: {attempts: "3"}}', "attempts must be a whole number of at least 1", "how often"),
    ("- {id: a, run: ls, retry: {attempts: 2, delay: -1}}", "delay must be a number of at least 0", "in seconds"),
    ("- {id: a, run: ls, retry: {attempts: 2, dealy: 1}}", "unknown key dealy in retry", "did you mean delay?"),
    ("- {id: a, run: ls, needs: a}", "a needs itself", "remove it"),
    ("- {id: a, run: ls, needs: b}", "needs names an unknown step b", "there is no other step"),
    ("- {id: a, run: ls, needs: {b: c}}", "needs must be text, not a mapping", ""),
    ('- {id: a, run: "ls {{ x }}"}', "{{ x }}: a path begins with inputs or steps, not x", "known: inputs, steps"),
    ('- {id: a, run: "ls {{ input.x }}"}', "{{ input.x }}: a path begins with inputs", "did you mean inputs?"),
    ('- {id: a, run: "ls {{ inputs.x"}', "a template is never closed", "close it with }}"),
    ('- {id: a, run: "ls {{ }}"}', "{{ }} is not a path", "write inputs.NAME"),
    ('- {id: a, run: "ls {{ inputs.x() }}"}', "{{ inputs.x() }} is not a path", "a template cannot call anything"),
    (
        '- {id: a, run: "ls {{ inputs.x | upper }}"}',
        "{{ inputs.x | upper }} is not a path",
        "a template has no filters",
    ),
    ('- {id: a, run: "ls {{ inputs.x[0] }}"}', "{{ inputs.x[0] }} is not a path", "write a position as .0"),
    ('- {id: a, run: "ls {{ inputs.x }}"}', "{{ inputs.x }}: there is no input x", "declare it under inputs"),
    ('- {id: a, run: "ls {{ steps.b.output }}"}', "{{ steps.b.output }}: there is no step b", "there is no other step"),
    ('- {id: a, run: "ls {{ steps.a.output }}"}', "{{ steps.a.output }}: a step cannot use its own output", "use that"),
    ('- {id: a, run: "ls {{ steps.b }}"}', "{{ steps.b }} does not say which part of the step", "a step's path is"),
    ('- {id: a, run: "ls {{ steps.b.outptu }}"}', "{{ steps.b.outptu }}: a step has no outptu", "did you mean output?"),
    (
        '- {id: a, run: "ls {{ steps.b.output.x }}"}',
        "{{ steps.b.output.x }}: there is nothing inside output",
        "to look",
    ),
    ("- {id: a, run: ls, when: inputs.x}", "inputs.x: there is no input x", "declare it under inputs"),
    ("- {id: a, run: ls, when: }", "when is empty", "give it a value"),
    ("- {id: a, run: ls, when: yes please}", "when cannot be read: yes please", "write a path"),
    ("- {id: a, run: ls, when: main}", "when: main is neither a path nor a literal", 'text needs quotes: "main"'),
    ("- {id: a, run: ls, when: inputs.x == main}", "when: main is neither a path nor a literal", "text needs quotes"),
    ("- {id: a, run: ls, when: inputs.x and inputs.y}", "when tests one thing; it has no and, no or", "give each test"),
    ("- {id: a, run: ls, when: inputs.x > 3}", "when cannot be read: inputs.x > 3", "write a path"),
    ("- {id: a, run: ls, when: [x]}", "when must be text, not a list", "put it in quotes"),
    ("- {id: a, run: \"echo '{{ inputs.x }}'\"}", "{{ inputs.x }} is inside single quotes", "put it in double quotes"),
]


@pytest.mark.parametrize(("step", "message", "hint"), STEP_MISTAKES)
def test_a_mistake_in_a_step_is_one_finding_with_a_hint(write: Write, step: str, message: str, hint: str) -> None:
    """On its line; and nothing that only follows from it."""
    inputs = "inputs: {x: {}}\n" if "inside single" in message else ""
    findings = found(write(f"name: x\n{inputs}steps:\n  {step}\n"))

    line = 4 if inputs else 3
    assert [(at, text[: len(message)], said[: len(hint)]) for at, text, said in findings] == [(line, message, hint)]


@pytest.mark.parametrize(
    ("declared", "message", "hint"),
    [
        ("{type: strng}", "unknown type: strng", "did you mean string?"),
        ("{type: int, default: 1.5}", "default of input x is not a whole number", "its type is int"),
        ('{type: int, default: "1"}', "default of input x is not a whole number", "its type is int"),
        ("{type: number, default: true}", "default of input x is not a number", "its type is number"),
        ("{type: boolean, default: 1}", "default of input x is not true or false", "its type is boolean"),
        ("{type: string, default: [a]}", "default of input x is not text", "its type is string"),
        ("{required: 7}", "required must be true or false", "write it without quotes"),
        ("{defualt: a}", "unknown key defualt in input x", "did you mean default?"),
        ("text", "input x must be a mapping of names to values", "write name: value, one per line"),
    ],
)
def test_a_mistake_in_an_input_is_one_finding_with_a_hint(write: Write, declared: str, message: str, hint: str) -> None:
    """On its line; a template that uses the input is not blamed for it."""
    path = write(f"name: x\ninputs:\n  x: {declared}\nsteps:\n  - id: a\n    run: echo {{{{ inputs.x }}}}\n")

    assert found(path) == [(3, message, hint)]


def test_an_output_can_only_be_used_by_a_step_that_waits_for_it(write: Write) -> None:
    """Directly or through others; otherwise it might not be there yet."""
    path = write("""
        name: order
        steps:
          - {id: a, run: echo a}
          - {id: b, needs: a, run: echo b}
          - {id: through, needs: b, run: "echo {{ steps.a.output }}"}
          - {id: beside, run: "echo {{ steps.a.output }}"}
    """)

    assert found(path) == [(6, "{{ steps.a.output }}: beside does not wait for a", "add a to its needs")]


@pytest.mark.parametrize(
    ("needs", "circles"),
    [
        ({"a": "b", "b": "a"}, ["a → b → a"]),
        ({"a": "c", "b": "a", "c": "b"}, ["a → c → b → a"]),
        ({"a": "", "b": "c", "c": "b", "d": "b"}, ["b → c → b"]),
        ({"a": "b", "b": "a", "c": "d", "d": "c"}, ["a → b → a", "c → d → c"]),
    ],
)
def test_steps_that_wait_for_one_another_are_shown_as_a_circle(
    write: Write, needs: dict[str, str], circles: list[str]
) -> None:
    """One finding for each circle, at its first step; what only waits for a circle is not blamed."""
    steps = "".join(f"  - {{id: {name}, run: ls, needs: [{need}]}}\n" for name, need in needs.items())

    messages = [message for _, message, _ in found(write(f"name: x\nsteps:\n{steps}"))]
    assert messages == [f"steps wait for one another: {circle}" for circle in circles]


@pytest.mark.parametrize(
    "flow",
    [
        "name: x\nsteps:\n  - {id: a, run: ls, needs: b}\n  - {id: b, run: ls, needs: a}\n",
        "name: x\nsteps:\n  - {id: a, provider: nobody, prompt: hi}\n",
    ],
    ids=["cycle", "unknown provider"],
)
def test_a_flow_with_a_mistake_is_not_run_at_all(run: Callable[..., Any], flow: str) -> None:
    """A user's mistake, exit code 2, every finding in the message; no delegation event, no process."""
    seen: list[Event] = []

    with pytest.raises(FlowInvalid, match="nothing was run") as caught:
        run(flow, on_event=seen.append)

    assert caught.value.exit_code == 2
    assert len(caught.value.findings) == 1
    assert caught.value.findings[0].message in caught.value.message
    assert seen == []


def test_mistakes_in_a_long_text_are_reported_at_their_own_lines(write: Write) -> None:
    """Also when the same wrong template is there twice."""
    path = write("""
        name: lines
        steps:
          - id: a
            provider: claude
            prompt: |
              First {{ inputs.nope }}
              then nothing,
              then {{ inputs.nope }} and {{ oops }}.
    """)

    places = [(finding.line, finding.column) for finding in check(path)]
    assert places == [(6, 13), (8, 12), (8, 34)]


def test_templates_in_a_prompt_file_are_checked_like_any_other(write: Write, tmp_path: Path) -> None:
    """The finding is where the file is named, and says which line of the file is meant."""
    (tmp_path / "ask.md").write_text("Hello\n{{ inputs.who }} and {{ who }}\n{{ inputs.who }} {{ steps.b.output }}\n")
    path = write("name: x\nsteps:\n  - id: a\n    provider: claude\n    prompt_file: ask.md\n")

    assert [(line, message) for line, message, _ in found(path)] == [
        (5, "ask.md, line 2: {{ inputs.who }}: there is no input who"),
        (5, "ask.md, line 2: {{ who }}: a path begins with inputs or steps, not who"),
        (5, "ask.md, line 3: {{ inputs.who }}: there is no input who"),
        (5, "ask.md, line 3: {{ steps.b.output }}: there is no step b"),
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\xff", "is not UTF-8 text"), (b" \n", "is empty"), (b"x" * (1024 * 1024 + 1), "is larger than 1 MB")],
    ids=["not text", "empty", "too large"],
)
def test_what_is_wrong_with_a_prompt_file_is_said(write: Write, tmp_path: Path, content: bytes, problem: str) -> None:
    """Not one message for everything that can be."""
    (tmp_path / "ask.md").write_bytes(content)
    path = write("name: x\nsteps:\n  - {id: a, provider: claude, prompt_file: ask.md}\n")

    assert [message for _, message, _ in found(path)] == [f"prompt_file ask.md {problem}"]


def test_a_template_deep_in_the_options_is_reported_at_its_own_line(write: Write) -> None:
    """Not where the options begin."""
    path = write("""
        name: x
        steps:
          - id: a
            provider: openai_compatible
            prompt: hi
            options:
              extra:
                fine: 1
                list:
                  - ok
                  - and {{ inputs.nope }}
    """)

    assert [(finding.line, finding.column, finding.message) for finding in check(path)] == [
        (11, 17, "{{ inputs.nope }}: there is no input nope"),
    ]


@pytest.mark.usefixtures("made_up")
def test_an_option_a_provider_does_not_know_is_found_before_anything_runs(write: Write) -> None:
    """At the option itself, with the one that was probably meant; it would be ignored in silence otherwise."""
    path = write("""
        name: x
        steps:
          - {id: a, provider: made_up, prompt: hi, options: {mode: x, levle: 3}}
          - id: b
            provider: codex
            prompt: hi
            options:
              sandbox: "off"
    """)

    assert found(path) == [
        (3, "made_up takes no option levle", "did you mean level?"),
        (8, "codex takes no options: sandbox", "remove it"),
    ]


def test_text_fields_take_what_was_written(write: Write) -> None:
    """`run: true` is the command true, an input named no is called no, a version keeps its zero."""
    path = write("""
        name: 2024-01-01
        inputs:
          no: {default: 1.10}
        steps:
          - id: a
            run: true
          - id: b
            run: [echo, 1, "{{ inputs.no }}"]
    """)

    flow = load(path)
    assert flow.name == "2024-01-01"
    assert flow.inputs["no"].default == "1.10"


def test_a_step_knows_its_line(write: Write) -> None:
    """So that whatever is said about it later can name the place."""
    path = write("name: x\ninputs:\n  i: {}\nsteps:\n\n  - id: a\n    run: ls\n")

    assert load(path).steps["a"].line == 6
    assert load(path).inputs["i"].line == 3


def test_a_finding_quotes_nothing_that_could_drive_a_terminal(write: Write) -> None:
    """A file of somebody else's can hide an escape sequence in a key, and a kilobyte in another."""
    path = write('name: x\n"\\e]0;title\\a\\e[31mred": 1\n' + "y" * 1000 + ": 1\nsteps: [{id: a, run: ls}]\n")

    first, second = found(path)
    assert first[1] == "unknown key red in a flow"
    assert len(second[1]) == 400


def test_whatever_bytes_a_file_holds_checking_never_raises(tmp_path: Path) -> None:
    """Findings or none, but never a traceback; a valid file with any one byte changed."""
    good = b"name: x\ninputs:\n  i: {type: int, default: 3}\nsteps:\n  - id: a\n    run: echo {{ inputs.i }}\n"
    path = tmp_path / "flow.yaml"
    for position in range(len(good)):
        for byte in b"\x00\t\n:{}[]!&*'\"|\xff1":
            path.write_bytes(good[:position] + bytes([byte]) + good[position + 1 :])
            for finding in check(path):
                assert finding.line >= 1
                assert finding.message
                assert finding.hint


def test_mistakes_of_items_and_agents_are_found(write: Write) -> None:
    """An item where there is none, a list that is none, a bound without items, and what an agent's step cannot have."""
    path = write("""
        name: f
        steps:
          - {id: a, run: "echo {{ item }}"}
          - {id: b, foreach: "x {{ steps.a.json }}", needs: a, run: echo}
          - {id: c, max_parallel: 2, run: echo}
          - {id: d, foreach: ["{{ item }}"], when: item.x == 1, run: "echo {{ item.name }}"}
          - {id: e, agent: explore, provider: claude, prompt: hi, output_format: json}
          - {id: f, agent: explore, run: echo}
          - {id: g, foreach: [1], max_parallel: 0, run: echo}
    """)

    assert [(line, message) for line, message, _ in found(path)] == [
        (3, "{{ item }}: the step has no foreach"),
        (4, "foreach must be a list, or one path to a list"),
        (5, "max_parallel belongs to a step with foreach"),
        (6, "there is no item here yet"),
        (6, "there is no item here yet"),
        (7, "a step with agent has no provider"),
        (7, "a step with agent has no output_format"),
        (8, "a step has both run and agent"),
        (9, "max_parallel must be a whole number of at least 1"),
    ]
