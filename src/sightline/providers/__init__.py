"""Other people's agents: how to read their streams and how to run them.

One module per provider holds all that is known about it. The rest of the program sees `Provider`, `Run` and events.
"""

from typing import TYPE_CHECKING

from sightline._later import later
from sightline.providers._preview import preview
from sightline.providers._provider import (
    APPROVALS,
    Approval,
    Ask,
    Channel,
    CommandLine,
    NotInstalled,
    Outcome,
    OwnRuns,
    Provider,
    Run,
    StopsAgents,
    Unreachable,
)
from sightline.providers._refusal import REFUSED_EXIT_CODE
from sightline.providers._registry import get_provider, provider_names, recognise
from sightline.providers._source import LINE_CAP, DisplayEventSource, Source
from sightline.providers._stream import EventStream
from sightline.providers._words import Words

if TYPE_CHECKING:
    from sightline.providers.running._doctor import ProviderStatus, survey
    from sightline.providers.running._runner import start_run

__all__ = [
    "APPROVALS",
    "LINE_CAP",
    "REFUSED_EXIT_CODE",
    "Approval",
    "Ask",
    "Channel",
    "CommandLine",
    "DisplayEventSource",
    "EventStream",
    "NotInstalled",
    "Outcome",
    "OwnRuns",
    "Provider",
    "ProviderStatus",
    "Run",
    "Source",
    "StopsAgents",
    "Unreachable",
    "Words",
    "get_provider",
    "preview",
    "provider_names",
    "recognise",
    "start_run",
    "survey",
]

# Reading a stream needs no event loop and no process; what runs things is imported when first asked for.
_LATER = {
    "ProviderStatus": "running._doctor",
    "survey": "running._doctor",
    "start_run": "running._runner",
}

__getattr__ = later(__name__, _LATER)
