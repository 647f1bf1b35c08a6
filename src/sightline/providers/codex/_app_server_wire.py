"""The notifications of Codex's app-server, as far as they are read: the parameters of each method. Fields that vary in
shape are left untyped on purpose: one odd field must not make a whole line unreadable."""

import msgspec

from sightline.providers.codex import _wire


class OfThread(msgspec.Struct, gc=False):
    threadId: str = ""


class CodexItem(msgspec.Struct, gc=False):
    """Of any type; each has some of these."""

    type: str
    id: str = ""
    text: str = ""
    summary: list[str] = []
    content: object = None
    command: object = ""
    aggregatedOutput: str | None = None
    exitCode: int | None = None
    durationMs: float | None = None
    status: object = ""
    changes: list[dict[str, object]] = []
    server: str = ""
    tool: object = ""
    arguments: object = None
    result: object = None
    error: object = None
    query: str | None = None
    action: object = None
    prompt: str | None = None
    receiverThreadIds: list[str] = []
    agentsStates: dict[str, _wire.AgentState] = {}
    path: object = ""


class ItemParams(OfThread, gc=False, kw_only=True):
    item: CodexItem


class CodexDelta(OfThread, gc=False, kw_only=True):
    itemId: str = ""
    delta: str = ""
    summaryIndex: int = 0
    contentIndex: int = 0


class PlanStep(msgspec.Struct, gc=False):
    step: str = ""
    status: str = "pending"


class CodexPlan(OfThread, gc=False, kw_only=True):
    plan: list[PlanStep] = []


class AppServerTokens(msgspec.Struct, gc=False):
    totalTokens: int | None = None
    inputTokens: int | None = None
    cachedInputTokens: int | None = None
    cacheWriteInputTokens: int | None = None
    outputTokens: int | None = None
    reasoningOutputTokens: int | None = None


class AppServerTokenUsage(msgspec.Struct, gc=False):
    last: AppServerTokens
    modelContextWindow: int | None = None


class Used(OfThread, gc=False, kw_only=True):
    tokenUsage: AppServerTokenUsage


class AppServerFailure(msgspec.Struct, gc=False):
    message: str = ""


class Failed(OfThread, gc=False, kw_only=True):
    error: AppServerFailure
    willRetry: bool = False


class CodexTurn(msgspec.Struct, gc=False):
    id: str = ""
    status: str = ""
    error: AppServerFailure | None = None


class TurnParams(OfThread, gc=False, kw_only=True):
    turn: CodexTurn


class AppServerWarning(OfThread, gc=False, kw_only=True):
    message: str = ""
    summary: str = ""
    details: str | None = None


class Rerouted(OfThread, gc=False, kw_only=True):
    toModel: str = ""


class ResolvedRequest(OfThread, gc=False, kw_only=True):
    requestId: object = None
