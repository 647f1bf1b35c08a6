"""A running session: commands in, events out; attach, detach, reconnect. It outlives whoever watches it."""

from typing import TYPE_CHECKING, Any

from sightline.host._client import Client, HostGone, connect
from sightline.host._commands import (
    Abort,
    AnswerRequest,
    Attach,
    Cancel,
    CancelCall,
    Cell,
    Command,
    Compact,
    EditTodo,
    Invoke,
    Label,
    Move,
    Outline,
    Prompt,
    Reload,
    Reply,
    SetModel,
    Shell,
    Start,
    Stop,
    Unqueue,
)
from sightline.host._here import hosting
from sightline.host._hosts import attach, find, running
from sightline.host._kept import Kept, kept_jobs, recover
from sightline.host._process import host, launch
from sightline.host._runtime import listen
from sightline.host._session import MOST_JOBS, Session
from sightline.host._subscription import Frame, Subscription
from sightline.host._wire import Hello

if TYPE_CHECKING:
    from sightline.host._native import NativeRun
    from sightline.host._working import Working, working

__all__ = [
    "MOST_JOBS",
    "Abort",
    "AnswerRequest",
    "Attach",
    "Cancel",
    "CancelCall",
    "Cell",
    "Client",
    "Command",
    "Compact",
    "EditTodo",
    "Frame",
    "Hello",
    "HostGone",
    "Invoke",
    "Kept",
    "Label",
    "Move",
    "NativeRun",
    "Outline",
    "Prompt",
    "Reload",
    "Reply",
    "Session",
    "SetModel",
    "Shell",
    "Start",
    "Stop",
    "Subscription",
    "Unqueue",
    "Working",
    "attach",
    "connect",
    "find",
    "host",
    "hosting",
    "kept_jobs",
    "launch",
    "listen",
    "recover",
    "running",
    "working",
]

# A host without an agent in it does not load one.
_LATER = {"NativeRun": "_native", "Working": "_working", "working": "_working"}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{module}"), name)
