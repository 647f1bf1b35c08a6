"""Names and values of others in what the program prints: they never drive the terminal, nor read as words of ours."""

import os
import re

import pytest

from tests.cli.warm import Warm

DEADLINE = 60

# Titles, a clipboard, a cleared screen, 8-bit controls, text that runs backwards; lines that read as ours; and bytes
# that are no text. Each is all of its kind in one, because every command is a process.
HOSTILE = {
    "controls": "\x1b]0;OWNED\x07\x1b]52;c;T1dO\x07\x1b[2J\x9b2J\x9d0;x\x9c\u202e\u2066gpj\u2069\x1bc\x08\x7f\r",
    "lines": "\nhint: FORGED\nerror: FORGED\r\nnote: FORGED\x1b]0;",
    "bytes": "\udcff\udc80\udc9b2J",
}
_DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORGED = re.compile(r"^(hint|error|note|warning): FORGED", re.MULTILINE)


@pytest.fixture(params=sorted(HOSTILE))
def hostile(request):
    return HOSTILE[request.param]


@pytest.fixture(scope="module")
def warm():
    with Warm() as program:
        yield program


@pytest.fixture
def run(tmp_path, own_home, warm):
    """Runs the program in a folder of its own and looks at every character it prints. What it printed."""

    def run(*arguments, cwd=None, stdin=b"", **environment):
        written = warm.run(arguments, str(cwd or tmp_path), {**os.environ, **environment}, stdin, DEADLINE)
        printed = written.decode()  # what is no UTF-8 is no text either
        assert _DRIVES.search(printed) is None, repr(printed)
        assert _FORGED.search(printed) is None, repr(printed)
        assert "Traceback" not in printed
        assert "this is a bug" not in printed
        return printed

    return run


FLOW = "name: x\nsteps:\n  - id: one\n    run: 'true'\n"


@pytest.mark.parametrize("content", [None, FLOW, "not: [a flow", "steps: 1\n"])
def test_flow_check_of_a_hostile_name(run, tmp_path, hostile, content):
    """Of a flow that is right, wrong, broken, or not there."""
    path = tmp_path / f"a{hostile}b.yaml"
    if content is not None:
        path.write_text(content)
    assert run("flow", "check", str(path))


def test_flow_check_of_hostile_values(run, tmp_path, hostile):
    """What a flow's author wrote stands in the findings."""
    text = hostile.encode("utf-8", "replace").decode()
    quoted = '"' + "".join(f"\\u{ord(char):04x}" for char in text) + '"'
    for line in (
        f"{quoted}: 1",
        f"name: {quoted}\nsteps: {quoted}",
        f"steps: [{{id: {quoted}, run: x, when: {quoted}}}]",
    ):
        (tmp_path / "flow.yaml").write_text(line + "\n")
        assert run("flow", "check", "flow.yaml")
        run("flow", "run", "flow.yaml")
        run("flow", "run", "flow.yaml", "--input", f"{text}={text}")


@pytest.mark.parametrize("command", [("flow", "run"), ("view",), ("events",), ("serve",)])
@pytest.mark.parametrize("content", [None, "just words\n"])
def test_commands_that_read_a_file_of_a_hostile_name(run, tmp_path, hostile, command, content):
    """A recording or a flow that is not there, or is none."""
    path = tmp_path / f"a{hostile}b"
    if content is not None:
        path.write_text(content)
    run(*command, str(path), stdin=b"")


def test_a_flow_of_a_hostile_name_runs(run, tmp_path, hostile):
    """Its steps are shown as those of any other."""
    path = tmp_path / f"a{hostile}b.yaml"
    path.write_text(FLOW)
    assert "one" in run("flow", "run", str(path))


def test_a_scripted_model_of_a_hostile_name(run, tmp_path, hostile):
    """A script that is not there, or is none."""
    path = tmp_path / f"a{hostile}b.json"
    assert run("-p", "hello", "--model", f"scripted:{path}")
    path.write_text("{")
    assert run("-p", "hello", "--model", f"scripted:{path}")
    assert run("-p", "hello", "--model", hostile)


def test_agents_of_hostile_names(run, tmp_path, hostile):
    """Their files, their folders, what is in them, and names that are none."""
    text = hostile.encode("utf-8", "replace").decode()
    quoted = '"' + "".join(f"\\u{ord(char):04x}" for char in text) + '"'
    folder = tmp_path / f"a{hostile}b"
    own, theirs = tmp_path / "sightline-home" / "agents", folder / ".claude" / "agents"
    for place in (own, theirs):
        place.mkdir(parents=True)
        (place / f"x{hostile}.md").write_text(f"---\nname: good\ndescription: {quoted}\n---\nx")
        (place / f"y{hostile}.md").write_text(f"---\nname: {quoted}\ndescription: a\n---\nx")
        (place / "z.md").write_text(f"---\ndescription: a\ntools: [{quoted}]\nwithout: [{quoted}]\n---\nx")
    for _ in ("not trusted", "trusted"):
        for words in ([], ["--json"], ["good"], ["z"], ["z", "--json"], [f"n{hostile}"], ["new", f"n{hostile}"]):
            assert run("agents", *words, cwd=folder, HOME=str(tmp_path))
        run("agents", "new", "fresh", "--project", cwd=folder, HOME=str(tmp_path))
        run("config", "trust", cwd=folder, HOME=str(tmp_path))


@pytest.mark.parametrize("form", ["program", "argument", "folder", "missing folder"])
def test_exec_of_hostile_words(run, tmp_path, hostile, form):
    """A command that is not there, one that is, and where it runs; then in the lists of jobs and sessions."""
    words, folder = ["true", hostile], tmp_path
    if form == "program":
        words = [f"./a{hostile}"]
    if form == "folder":
        folder = tmp_path / f"a{hostile}b"
        folder.mkdir()
    run("exec", "--", *words, cwd=folder)
    run(
        "exec",
        "--cwd" if form == "missing folder" else "--",
        *([f"/none{hostile}", "--"] if form != "folder" else []),
        *words,
    )
    job = run("exec", "-d", "--", "sh", "-c", "sleep 30", hostile, cwd=folder).split()
    for command in (
        ["jobs", "--all"],
        ["jobs", "--json"],
        ["ps"],
        ["ps", "--json"],
        ["sessions"],
        ["sessions", "--json"],
    ):
        run(*command, cwd=folder)
    for word in job[:1]:
        run("attach", f"{word}{hostile}")
        run("logs", word)
        run("cancel", "--force", word)
        run("stop", "--all")


@pytest.mark.parametrize(
    "command", [("attach",), ("logs",), ("cancel",), ("jobs",), ("resume",), ("tree",), ("fork",), ("stop",)]
)
def test_hostile_ids(run, hostile, command):
    """What is asked for by a name there is not."""
    assert run(*command, hostile)
    assert run(*command, f"zzzzzz-1{hostile}")


@pytest.mark.parametrize(
    "arguments", [("--bogus",), ("flow",), ("config", "set"), ("-p", "x", "--provider"), ("--columns",)]
)
def test_hostile_words_where_others_are_expected(run, hostile, arguments):
    """The parser quotes what it does not know."""
    run(*arguments, hostile)
    run(f"{arguments[0]}{hostile}")
    run("-p", "x", "--option", hostile)


def _toml(text):
    """A TOML basic string of it."""
    return '"' + "".join(f"\\u{ord(char):04x}" for char in text.encode("utf-8", "replace").decode()) + '"'


def test_hostile_keys_and_values_in_settings(run, tmp_path, hostile):
    """In the settings of a trusted project: mistakes, notices, lists."""
    project = tmp_path / "project"
    (project / ".sightline").mkdir(parents=True)
    (project / ".git").mkdir()
    file = project / ".sightline" / "config.toml"
    file.write_text("")
    run("trust", cwd=project)
    lines = [
        f"{_toml(hostile)} = 1",
        f"{_toml(hostile)} = 1\n{_toml('x' + hostile)} = 2",
        f"[{_toml(hostile)}.{_toml(hostile)}]\na = 1",
        f"model = {_toml(hostile)}",
        f"[permissions]\nallow = [{_toml(hostile)}, {_toml('exec(' + hostile + ')')}]\nlevel = {_toml(hostile)}",
        f"[models.{_toml(hostile)}]\nurl = {_toml(hostile)}",
        f"broken = [{hostile.encode('utf-8', 'replace').decode()}",
    ]
    for line in lines:
        file.write_text(line + "\n")
        for command in (("config",), ("config", "--json"), ("rules",), ("doctor",), ("models",), ("-p", "x")):
            run(*command, cwd=project)


def test_a_folder_of_a_hostile_name(run, tmp_path, hostile):
    """As the project: trusted, with settings, mistaken ones, and asked about."""
    project = tmp_path / f"a{hostile}b"
    (project / ".sightline").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".sightline" / "config.toml").write_text("bogus = 1\nalso = 2\n")
    for command in (
        ("config",), ("trust",), ("trust", "--list"), ("config",), ("doctor",), ("rules",), ("models",),
        ("sessions", "--here"), ("-p", "x"), ("untrust",), ("config", "set", "model", hostile), ("attach",),
    ):  # fmt: skip
        run(*command, cwd=project)
    run("trust", str(tmp_path / f"none{hostile}"))


def test_environment_variables_with_hostile_values(run, hostile):
    """A variable is a setting as well."""
    value = hostile.replace("\x00", "")
    for name in ("SIGHTLINE_MODEL", "SIGHTLINE_PERMISSIONS_LEVEL", "SIGHTLINE_BOGUS"):
        for command in (("config",), ("doctor",), ("-p", "x")):
            run(*command, **{name: value})


def test_a_debug_log_of_a_hostile_name(run, tmp_path, hostile):
    """Where it cannot be written."""
    run("--debug-log", str(tmp_path / f"none{hostile}" / "log"), "doctor")


def test_a_line_break_in_a_name_begins_no_line_of_ours(run, tmp_path):
    """What follows it is indented, so that only our own words stand at the beginning of a line."""
    printed = run("view", str(tmp_path / "a\nhint: FORGED"))
    assert "\n  hint: FORGED" in printed
