"""What can be found in a CLI's raw output, read as simply as possible and without any of our sources.

It says for each scripted block whether the output shows it, so that tests can tell what a source missed from what was
never there to be seen.
"""

import re
import shlex
from typing import Any

import msgspec

from sightline.testing.standin import Calling

# A command in the JavaScript codex's newest models write.
_scripted_command = re.compile(r"exec_command\((\{.*\})\)")


class SeenCall(msgspec.Struct):
    """A call in the output. `key` is what it is found by: its id where the output has one, else its arguments."""

    key: str
    status: str = ""
    output: str = ""


class Seen(msgspec.Struct):
    """All words, all thoughts and the calls of one output."""

    words: str = ""
    thoughts: str = ""
    calls: list[SeenCall] = []

    def take(self, key: str) -> SeenCall | None:
        """The first call of that key, which is then used up."""
        for number, call in enumerate(self.calls):
            if call.key == key:
                return self.calls.pop(number)
        return None


def look(provider: str, stdout: bytes) -> Seen:
    lines = [msgspec.json.decode(line) for line in stdout.split(b"\n") if line.strip()]
    return _WITNESSES[provider](lines)


def key_of(provider: str, call: Calling) -> str:
    """How this provider's output would name a call."""
    args = call.args
    if provider == "claude":
        return "toolu_01" + call.uid[:22]
    if provider == "opencode":
        return "call_" + call.uid
    if provider == "gemini":
        return call.name + _sorted(args)
    if call.name == "wait_agent":
        return "wait"
    return _codex_key(args)


def _codex_key(args: dict[str, Any] | str) -> str:
    """Codex has no ids on the wire: a command is known by its text, a patch by being one."""
    if isinstance(args, str):
        scripted = _scripted_command.search(args)
        args = msgspec.json.decode(scripted.group(1)) if scripted else {"cmd": args}
    command = str(args.get("cmd") or args.get("message") or "")
    return "file_change" if "*** Begin Patch" in command else command


def _sorted(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _claude(lines: list[Any]) -> Seen:
    seen = Seen()
    for line in lines:
        content = (line.get("message") or {}).get("content") if line["type"] in ("assistant", "user") else None
        for block in content if isinstance(content, list) else []:
            if block["type"] == "text" and line["type"] == "assistant":
                seen.words += block["text"]
            elif block["type"] == "thinking":
                seen.thoughts += block["thinking"]
            elif block["type"] == "tool_use":
                seen.calls.append(SeenCall(block["id"]))
            elif block["type"] == "tool_result":
                _close(seen, block["tool_use_id"], "error" if block.get("is_error") else "ok", str(block["content"]))
    return seen


def _codex(lines: list[Any]) -> Seen:
    seen = Seen()
    for item in (line["item"] for line in lines if line["type"] == "item.completed"):
        if item["type"] == "agent_message":
            seen.words += item["text"]
        elif item["type"] == "reasoning":
            seen.thoughts += item["text"]
        elif item["type"] == "command_execution":
            script = shlex.split(item["command"])[2]
            seen.calls.append(SeenCall(script, item["status"], item["aggregated_output"]))
        elif item["type"] == "file_change":
            seen.calls.append(SeenCall("file_change", item["status"]))
        elif item["type"] == "collab_tool_call":
            key = item["prompt"] if item["tool"] == "spawn_agent" else item["tool"]
            seen.calls.append(SeenCall(key, item["status"], _sorted(item["agents_states"])))
    return seen


def _gemini(lines: list[Any]) -> Seen:
    seen, keys = Seen(), {}
    for line in lines:
        if line["type"] == "message" and line["role"] == "assistant":
            seen.words += line["content"]
        elif line["type"] == "tool_use":
            keys[line["tool_id"]] = SeenCall(line["tool_name"] + _sorted(line["parameters"]))
            seen.calls.append(keys[line["tool_id"]])
        elif line["type"] == "tool_result":
            keys[line["tool_id"]].status = line["status"]
            keys[line["tool_id"]].output = line.get("output") or ""
    return seen


def _opencode(lines: list[Any]) -> Seen:
    seen = Seen()
    for line in lines:
        part = line.get("part") or {}
        if line["type"] == "text":
            seen.words += part["text"]
        elif line["type"] == "reasoning":
            seen.thoughts += part["text"]
        elif line["type"] == "tool_use":
            state = part["state"]
            output = state.get("output") or state.get("error") or ""
            seen.calls.append(SeenCall(part["callID"], state["status"], output))
    return seen


def _close(seen: Seen, key: str, status: str, output: str) -> None:
    for call in seen.calls:
        if call.key == key:
            call.status, call.output = status, output


_WITNESSES = {"claude": _claude, "codex": _codex, "gemini": _gemini, "opencode": _opencode}
