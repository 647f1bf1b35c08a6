"""What is sent to a chat completions server: options checked, messages put together, tools declared."""

from collections.abc import Callable, Mapping

import msgspec

from sightline.events import ToolUse
from sightline.exceptions import UserMistake
from sightline.providers._provider import ProviderPrompt

RETRIES = 3
_RETRIES_AT_MOST = 10
_KEY_NAMES = frozenset(("api_key", "apikey", "api-key", "key", "token", "authorization", "headers"))
# What each option must be, and the test for it.
OPTIONS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "base_url": ("a text", lambda value: isinstance(value, str)),
    "stream": ("true or false", lambda value: isinstance(value, bool)),
    "tools": ("a list of tools", lambda value: isinstance(value, list | dict)),
    "temperature": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "max_tokens": ("a whole number above 0", lambda value: type(value) is int and value > 0),
    "system": ("a text", lambda value: isinstance(value, str)),
    "retries": (
        f"a whole number from 0 to {_RETRIES_AT_MOST}",
        lambda value: type(value) is int and 0 <= value <= _RETRIES_AT_MOST,
    ),
    "extra": ("a mapping", lambda value: isinstance(value, dict)),
}
# Every call must be answered before the conversation may continue; this is the truth about it.
_NOT_RUN = "not run: this call was only shown to the user"


def endpoint(base_url: str) -> str:
    """The address of the request, whether the base URL ends before or after `/chat/completions`."""
    path, mark, query = base_url.partition("?")
    path = path.rstrip("/").removesuffix("/chat/completions")
    return f"{path}/chat/completions{mark}{query}"


def check_options(options: Mapping[str, object]) -> None:
    """UserMistake for an option there is not, or one of the wrong type."""
    extra = options.get("extra", {})
    if not isinstance(extra, dict):
        raise UserMistake("option extra must be a mapping", "it holds more fields of the request")
    if any(name.lower() in _KEY_NAMES for name in (*options, *extra) if isinstance(name, str)):
        raise UserMistake("an API key does not belong in options", "set OPENAI_API_KEY in the environment")
    for name, value in options.items():
        if name not in OPTIONS:
            raise UserMistake(f"unknown option '{name}'", f"use one of: {', '.join(OPTIONS)}")
        expected, fits = OPTIONS[name]
        if not fits(value):
            raise UserMistake(f"option {name} must be {expected}", "")


def request_body(ask: ProviderPrompt, model: str, messages: list[dict[str, object]]) -> dict[str, object]:
    """The JSON that is sent. A null in `extra` takes a field out again, for servers that refuse to see it."""
    options = ask.options
    body: dict[str, object] = {"messages": messages}
    if model:
        body["model"] = model
    for name in ("temperature", "max_tokens"):
        if name in options:
            body[name] = options[name]
    if options.get("tools"):
        body["tools"] = declared_tools(options["tools"])
    if options.get("stream"):
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    extra = options.get("extra")
    body |= extra if isinstance(extra, dict) else {}
    return {name: value for name, value in body.items() if value is not None}


def declared_tools(tools: object) -> list[dict[str, object]]:
    """Tools as the API takes them, from its own form or from `{name: {description, parameters}}`."""
    declared: list[dict[str, object]] = []
    for tool in tools if isinstance(tools, list) else [tools]:
        if isinstance(tool, dict) and isinstance(tool.get("type"), str):
            declared.append(tool)
        elif isinstance(tool, dict) and all(isinstance(one, dict | None) for one in tool.values()):
            declared += [_declared(str(name), spec or {}) for name, spec in tool.items()]
        else:
            raise UserMistake(
                "a tool is declared in the wrong form", "write it as {name: {description: …, parameters: {…}}}"
            )
    return declared


def _declared(name: str, spec: dict[str, object]) -> dict[str, object]:
    parameters = spec.get("parameters") or {"type": "object", "properties": {}}
    function = {"name": name, "description": spec.get("description") or "", "parameters": parameters}
    return {"type": "function", "function": function}


def with_prompt(messages: list[dict[str, object]], ask: ProviderPrompt) -> list[dict[str, object]]:
    """The conversation so far, with the system prompt of this ask in front and its prompt at the end."""
    messages = list(messages)
    if ask.options.get("system"):
        if messages and messages[0].get("role") == "system":
            del messages[0]
        messages.insert(0, {"role": "system", "content": _sendable(str(ask.options["system"]))})
    return [*messages, {"role": "user", "content": _sendable(ask.prompt)}]


def reply_messages(words: str, calls: list[ToolUse]) -> list[dict[str, object]]:
    """The answer as messages of the conversation. Its content is always a text: there are servers that refuse null."""
    reply: dict[str, object] = {"role": "assistant", "content": words}
    if not calls:
        return [reply]
    reply["tool_calls"] = [
        {
            "id": call.native_id or call.id,
            "type": "function",
            "function": {"name": call.native_name or call.name, "arguments": _arguments(call.args)},
        }
        for call in calls
    ]
    results: list[dict[str, object]] = [
        {"role": "tool", "tool_call_id": call.native_id or call.id, "content": _NOT_RUN} for call in calls
    ]
    return [reply, *results]


def encoded(body: dict[str, object]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError):
        raise UserMistake(
            "the options cannot be sent as JSON", "use strings, numbers, lists and mappings only"
        ) from None


def _arguments(args: object) -> str:
    return args if isinstance(args, str) else msgspec.json.encode(args).decode()


def _sendable(text: str) -> str:
    """A prompt from a command line may hold bytes that are no text."""
    return text.encode("utf-8", "replace").decode()
