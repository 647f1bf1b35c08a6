"""Common tool names and arguments become those each client offers."""

from typing import Any

import pytest

from sightline.testing.standin._conversation import OfferedTool
from sightline.testing.standin._tools import translate


def offered(**tools: Any) -> dict[str, OfferedTool]:
    """Tools by name, each with the properties it takes; a leading ! makes one required."""
    return {
        name: OfferedTool(
            {prop.lstrip("!"): {"type": "string"} for prop in properties.split()},
            [prop[1:] for prop in properties.split() if prop.startswith("!")],
        )
        for name, properties in tools.items()
    }


CLAUDE = offered(
    Bash="!command description",
    Read="!file_path offset",
    Edit="!file_path !old_string !new_string",
    Agent="!description !prompt subagent_type",
    TaskCreate="!subject",
)
GEMINI = offered(
    run_shell_command="!command description",
    read_file="!file_path",
    replace="!file_path !instruction !old_string !new_string",
    grep_search="!pattern dir_path",
    invoke_agent="!agent_name !prompt",
    write_todos="!todos",
)
OPENCODE = offered(
    bash="!command",
    read="!filePath",
    edit="!filePath !oldString !newString",
    task="!description !prompt !subagent_type",
)
SIGHTLINE = offered(bash="!command", task="!agent !context !tasks")
OH_MY_PI = offered(bash="!command", task="!context !tasks")
CODEX = offered(exec_command="!cmd workdir", spawn_agent="!message", update_plan="!plan")


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (CLAUDE, ("Bash", {"command": "ls"})),
        (GEMINI, ("run_shell_command", {"command": "ls"})),
        (OPENCODE, ("bash", {"command": "ls"})),
        (CODEX, ("exec_command", {"cmd": "ls"})),
    ],
)
def test_bash_is_each_clients_shell(tools: dict[str, OfferedTool], call: Any) -> None:
    """The command goes under the name the client's shell tool has for it."""
    assert translate("Bash", {"command": "ls"}, tools) == call


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (CLAUDE, ("Read", {"file_path": "a b.txt"})),
        (GEMINI, ("read_file", {"file_path": "a b.txt"})),
        (OPENCODE, ("read", {"filePath": "a b.txt"})),
        (CODEX, ("exec_command", {"cmd": "cat 'a b.txt'"})),
    ],
)
def test_read_is_each_clients_reader_or_a_command(tools: dict[str, OfferedTool], call: Any) -> None:
    """A client without a tool for reading reads with its shell."""
    assert translate("Read", {"file_path": "a b.txt"}, tools) == call


def test_required_arguments_nobody_scripted_are_filled_in() -> None:
    """A client refuses a call that lacks one; the script need not know them."""
    name, args = translate("Edit", {"file_path": "f", "old_string": "a", "new_string": "b"}, GEMINI)
    assert name == "replace"
    assert args == {"file_path": "f", "old_string": "a", "new_string": "b", "instruction": "As asked."}


def test_an_edit_becomes_a_patch_where_only_patches_are_taken() -> None:
    """codex edits with apply_patch: as a free-form tool, or through its shell."""
    args = {"file_path": "f", "old_string": "a\nb", "new_string": "c"}
    patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n-b\n+c\n*** End Patch\n"
    assert translate("Edit", args, {**CODEX, "apply_patch": OfferedTool(freeform=True)}) == ("apply_patch", patch)
    assert translate("Edit", args, CODEX) == ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}EOF"})


def test_calls_are_written_as_javascript_where_that_is_asked_for() -> None:
    """codex with its newest models offers one free-form tool that takes a script."""
    name, script = translate("Bash", {"command": 'echo "hi"'}, {"exec": OfferedTool(freeform=True)})
    assert name == "exec"
    assert 'tools.exec_command({"cmd":"echo \\"hi\\""})' in script


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (CLAUDE, ("Agent", {"description": "d", "prompt": "p", "subagent_type": "general-purpose"})),
        (OPENCODE, ("task", {"description": "d", "prompt": "p", "subagent_type": "general"})),
        (CODEX, ("spawn_agent", {"message": "p"})),
    ],
)
def test_task_starts_each_clients_own_kind_of_subagent(tools: dict[str, OfferedTool], call: Any) -> None:
    """The type of subagent is the client's general one unless the script says."""
    assert translate("task", {"description": "d", "prompt": "p"}, tools) == call


@pytest.mark.parametrize(
    ("tools", "name", "args"),
    [
        (GEMINI, "write_todos", {"todos": [{"description": "x", "status": "pending"}]}),
        (CODEX, "update_plan", {"plan": [{"step": "x", "status": "pending"}]}),
        (CLAUDE, "TaskCreate", {"subject": "x", "description": "x", "activeForm": "x"}),
    ],
)
def test_todo_is_each_clients_list(tools: dict[str, OfferedTool], name: str, args: Any) -> None:
    """One list, in the shape each client wants."""
    assert translate("Todo", {"todos": [{"content": "x", "status": "pending"}]}, tools) == (name, args)


def test_any_other_name_is_used_as_it_stands() -> None:
    """A script may call what a client never offered."""
    assert translate("frobnicate", {"level": 3}, CLAUDE) == ("frobnicate", {"level": 3})


def test_an_agent_is_one_of_a_list_where_a_client_has_lists() -> None:
    """Each under the names the client has for its task."""
    args = {"description": "part one", "prompt": "Do it."}
    ours = {"id": "PartOne", "assignment": "Do it.", "description": "part one"}
    assert translate("Task", args, SIGHTLINE) == ("task", {"agent": "task", "context": "As asked.", "tasks": [ours]})
    theirs = {"name": "PartOne", "task": "Do it."}
    assert translate("Task", args, OH_MY_PI) == ("task", {"context": "As asked.", "tasks": [theirs]})
