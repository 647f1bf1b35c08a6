"""A running session: commands in, events out; attach, detach, reconnect. It outlives whoever watches it."""

from sightline.host._client import Client, HostGone, connect
from sightline.host._commands import Cancel, Command, Reply, Start, Stop
from sightline.host._here import hosting
from sightline.host._hosts import attach, find, running
from sightline.host._kept import Kept, kept_jobs, recover
from sightline.host._process import host, launch
from sightline.host._runtime import listen
from sightline.host._session import MOST_JOBS, Session
from sightline.host._subscription import Frame, Subscription
from sightline.host._wire import Hello

__all__ = [
    "MOST_JOBS",
    "Cancel",
    "Client",
    "Command",
    "Frame",
    "Hello",
    "HostGone",
    "Kept",
    "Reply",
    "Session",
    "Start",
    "Stop",
    "Subscription",
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
]
