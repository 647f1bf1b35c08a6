"""A stand-in model server on loopback that plays a script, so that real agents run without a network.

`async with StandIn([[{"text": "Hello."}]]) as server:` serves at `server.url` in the running event loop,
`with StandIn.in_thread("script.json") as server:` in a thread of its own.
"""

from sightline.testing.standin._http import Request
from sightline.testing.standin._script import MAIN, ErrorBlock, Script, ScriptError, ScriptSource, load_script
from sightline.testing.standin._server import Exchange, StandIn
from sightline.testing.standin._turn import Calling, ReadyTurn, Saying, Thinking

__all__ = [
    "MAIN",
    "Calling",
    "ErrorBlock",
    "Exchange",
    "ReadyTurn",
    "Request",
    "Saying",
    "Script",
    "ScriptError",
    "ScriptSource",
    "StandIn",
    "Thinking",
    "load_script",
]
