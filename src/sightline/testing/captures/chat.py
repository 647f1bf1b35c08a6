"""Recording chat completions: a plain client with a few tools stores every response body byte for byte."""

import http.client
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from sightline.testing.captures._expected import expected
from sightline.testing.captures._record import write_recording
from sightline.testing.captures._scenarios import Scenario
from sightline.testing.place import write_project
from sightline.testing.standin import StandIn

_TURNS_AT_MOST = 20


def _tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    _tool("run_command", "command"),
    _tool("read_file", "path"),
    _tool("write_file", "path", "content"),
    _tool("edit_file", "path", "old_string", "new_string"),
]


class Body(msgspec.Struct, frozen=True):
    """One response as it came."""

    status: int
    content_type: str
    content: bytes
    is_complete: bool


def record_chat(name: str, scenario: Scenario, folder: Path, project: Path) -> list[Path]:
    """Record a scenario whole and streamed: `NAME.turnN.json` and `NAME.turnN.sse`."""
    bodies: dict[str, bytes] = {}
    files = []
    for ending in ("json", "sse"):
        write_project(project / ending)
        with StandIn.in_thread(scenario.turns) as server:
            for number, body in enumerate(
                converse(server, scenario.prompt, project / ending, stream=ending == "sse"), 1
            ):
                bodies[f".turn{number}.{ending}"] = body.content
                files.append(
                    {
                        "file": f"{name}.turn{number}.{ending}",
                        "status": body.status,
                        "content_type": body.content_type,
                        "complete": body.is_complete,
                    }
                )
    meta = {
        "provider": "openai_compatible",
        "scenario": name,
        "description": scenario.description,
        "prompt": scenario.prompt,
        "server": "scripted model server",
        "request": "POST /v1/chat/completions",
        "files": files,
        "expected": expected(scenario, server.turns, "openai_compatible", None),
    }
    return write_recording(folder / "openai_compatible", name, bodies, meta)


def converse(server: StandIn, prompt: str, project: Path, *, stream: bool) -> list[Body]:
    """Ask, run the calls, ask again, until the model calls nothing or a response is not whole."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    bodies: list[Body] = []
    while len(bodies) < _TURNS_AT_MOST:
        body = _ask(server, messages, stream=stream)
        bodies.append(body)
        if body.status != 200 or not body.is_complete:
            break
        message = _streamed_message(body.content) if stream else _whole_message(body.content)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        messages += [_result(call, project) for call in message["tool_calls"]]
    return bodies


def _ask(server: StandIn, messages: list[dict[str, Any]], *, stream: bool) -> Body:
    request: dict[str, Any] = {"model": "standin-1", "messages": messages, "tools": TOOLS, "stream": stream}
    if stream:
        request["stream_options"] = {"include_usage": True}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/v1/chat/completions", msgspec.json.encode(request))
    response = connection.getresponse()
    try:
        content, is_complete = response.read(), True
    except http.client.IncompleteRead as broken:
        content, is_complete = broken.partial, False
    finally:
        connection.close()
    return Body(response.status, response.getheader("Content-Type", ""), content, is_complete)


def _whole_message(content: bytes) -> dict[str, Any]:
    message: dict[str, Any] = msgspec.json.decode(content)["choices"][0]["message"]
    return message


def _streamed_message(content: bytes) -> dict[str, Any]:
    """The message the chunks of a stream add up to."""
    text, calls = "", {}
    for line in content.split(b"\n"):
        if not line.startswith(b"data: {"):
            continue
        for choice in msgspec.json.decode(line[len(b"data: ") :])["choices"]:
            text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls") or []:
                if "id" in piece:
                    calls[piece["index"]] = piece
                else:
                    calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
    return {"role": "assistant", "content": text or None, "tool_calls": list(calls.values())}


def _result(call: dict[str, Any], project: Path) -> dict[str, Any]:
    arguments = msgspec.json.decode(call["function"]["arguments"])
    try:
        output = _run(call["function"]["name"], arguments, project)
    except (OSError, KeyError) as error:
        output = f"error: {type(error).__name__}"
    return {"role": "tool", "tool_call_id": call["id"], "content": output}


def _run(name: str, arguments: dict[str, str], project: Path) -> str:
    if name == "run_command":
        command = ["bash", "-c", arguments["command"]]
        done = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return f"exit {done.returncode}\n{done.stdout.decode('utf-8', 'replace')}"
    path = project / arguments["path"]
    if name == "read_file":
        return path.read_text()
    text = arguments["content"] if name == "write_file" else _edited(path, arguments)
    path.write_text(text)
    return "done"


def _edited(path: Path, arguments: dict[str, str]) -> str:
    return path.read_text().replace(arguments["old_string"], arguments["new_string"])
