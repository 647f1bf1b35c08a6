"""Answers of generateContent, as data."""

from typing import Any

from tests.models.serving import sse

Event = dict[str, Any]


def event(*parts: Event, finish: str | None = None, usage: Event | None = None, **fields: Any) -> Event:
    candidate: Event = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    told = {"usageMetadata": usage} if usage is not None else {}
    return {"candidates": [candidate | fields], **told, "modelVersion": "gemini-x", "responseId": "r1"}


def call(name: str, args: Event | None, signature: str | None = None, ident: str | None = None) -> Event:
    made: Event = {"name": name}
    if args is not None:
        made["args"] = args
    if ident is not None:
        made["id"] = ident
    return {"functionCall": made, **({"thoughtSignature": signature} if signature else {})}


USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 20,
    "totalTokenCount": 150,
    "cachedContentTokenCount": 64,
    "thoughtsTokenCount": 30,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
}

FULL = sse(
    event({"text": "**Plan**\n", "thought": True}, usage={"promptTokenCount": 100, "totalTokenCount": 100}),
    event({"text": "Look first.", "thought": True}),
    event({"text": "I look "}),
    event({"text": "around 👨‍👩‍👧‍👦."}),
    event(call("read", {"path": "a.py"}, "c2lnMQ=="), call("bash", {"command": "ls"}, ident="fc-2")),
    event({"text": "", "thoughtSignature": "c2lnMg=="}, finish="STOP", usage=USAGE),
    named=False,
)
