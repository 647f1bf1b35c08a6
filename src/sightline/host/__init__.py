"""A running session: commands in, events out; attach, detach, reconnect. It outlives whoever watches it."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.host._asked import all_details
    from sightline.host._client import Client, HostGone, HostRefused, connect
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
        SetApproval,
        SetModel,
        Shell,
        Start,
        Stop,
        Unqueue,
    )
    from sightline.host._console_launch import start_host
    from sightline.host._console_wanted import HostWanted, launch_agent, started
    from sightline.host._here import hosting
    from sightline.host._hosts import attach, find, is_lost, running
    from sightline.host._kept import Kept, kept_jobs, recover
    from sightline.host._masked_artifact import MaskedArtifact, secrets_here
    from sightline.host._native import NativeRun, native_run
    from sightline.host._process import host, launch
    from sightline.host._provider_levels import level_left_in
    from sightline.host._provider_memory import Conversation, conversation_in, last_conversation, native_id
    from sightline.host._provider_run import ProviderRun
    from sightline.host._runtime import listen
    from sightline.host._session import MOST_JOBS, Session
    from sightline.host._subscription import Frame, Subscription
    from sightline.host._wire import Hello
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
    "Conversation",
    "EditTodo",
    "Frame",
    "Hello",
    "HostGone",
    "HostRefused",
    "HostWanted",
    "Invoke",
    "Kept",
    "Label",
    "MaskedArtifact",
    "Move",
    "NativeRun",
    "Outline",
    "Prompt",
    "ProviderRun",
    "Reload",
    "Reply",
    "Session",
    "SetApproval",
    "SetModel",
    "Shell",
    "Start",
    "Stop",
    "Subscription",
    "Unqueue",
    "Working",
    "all_details",
    "attach",
    "connect",
    "conversation_in",
    "find",
    "host",
    "hosting",
    "is_lost",
    "kept_jobs",
    "last_conversation",
    "launch",
    "launch_agent",
    "level_left_in",
    "listen",
    "native_id",
    "native_run",
    "recover",
    "running",
    "secrets_here",
    "start_host",
    "started",
    "working",
]

# A console starts its host before anything is loaded, and a host without an agent in it does not load one.
_MODULES = {
    "_asked": "all_details",
    "_client": "Client HostGone HostRefused connect",
    "_commands": (
        "Abort AnswerRequest Attach Cancel CancelCall Cell Command Compact EditTodo Invoke Label Move Outline "
        "Prompt Reload Reply SetApproval SetModel Shell Start Stop Unqueue"
    ),
    "_console_launch": "start_host",
    "_console_wanted": "HostWanted launch_agent started",
    "_here": "hosting",
    "_hosts": "attach find is_lost running",
    "_kept": "Kept kept_jobs recover",
    "_masked_artifact": "MaskedArtifact secrets_here",
    "_native": "NativeRun native_run",
    "_process": "host launch",
    "_provider_levels": "level_left_in",
    "_provider_memory": "Conversation conversation_in last_conversation native_id",
    "_provider_run": "ProviderRun",
    "_runtime": "listen",
    "_session": "MOST_JOBS Session",
    "_subscription": "Frame Subscription",
    "_wire": "Hello",
    "_working": "Working working",
}
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}

__getattr__ = later(__name__, _LATER)
