"""Small clients for the stand-in: one request per dialect, and what came back taken apart."""

import json
from typing import Any

import httpx2

TOOL_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


async def post(url: str, body: dict[str, Any]) -> httpx2.Response:
    """A POST that goes to loopback and nowhere else."""
    async with httpx2.AsyncClient(trust_env=False, timeout=90, verify=False) as client:
        return await client.post(url, json=body)


async def receive(url: str, body: dict[str, Any], into: bytearray) -> None:
    """A POST whose answer is collected as it arrives, so that the beginning of a broken one is not lost."""
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=90, verify=False) as client,
        client.stream("POST", url, json=body) as response,
    ):
        async for chunk in response.aiter_bytes():
            into += chunk


def events(response: httpx2.Response) -> list[Any]:
    """The values of a server-sent stream."""
    lines = [line[len("data: ") :] for line in response.text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def messages_body(*history: dict[str, Any], stream: bool = False) -> dict[str, Any]:
    tools = [{"name": "Bash", "input_schema": TOOL_SCHEMA}]
    messages = [{"role": "user", "content": "Go."}, *history]
    return {"model": "m", "stream": stream, "tools": tools, "messages": messages}


def responses_body(*history: dict[str, Any], stream: bool = False) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}
    tools = [{"type": "function", "name": "exec_command", "parameters": schema}]
    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}, *history]
    return {"model": "m", "stream": stream, "tools": tools, "input": items}


def chat_body(*history: dict[str, Any], stream: bool = False, tools: bool = True) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Go."}, *history]
    body: dict[str, Any] = {"model": "m", "stream": stream, "messages": messages}
    if tools:
        body["tools"] = [{"type": "function", "function": {"name": "bash", "parameters": TOOL_SCHEMA}}]
    return body


def gemini_body(*history: dict[str, Any]) -> dict[str, Any]:
    declaration = {"name": "run_shell_command", "parametersJsonSchema": TOOL_SCHEMA}
    contents = [{"role": "user", "parts": [{"text": "Go."}]}, *history]
    return {"contents": contents, "tools": [{"functionDeclarations": [declaration]}]}
