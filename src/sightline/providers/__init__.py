"""Other people's agents: how to read their streams and how to run them.

One module per provider holds all that is known about it. The rest of the program sees `Provider`, `Run` and events.
"""

from sightline._later import later
from sightline.providers._preview import preview as preview
from sightline.providers._provider import APPROVALS as APPROVALS
from sightline.providers._provider import REFUSED_EXIT_CODE as REFUSED_EXIT_CODE
from sightline.providers._provider import WORDS_AT_MOST as WORDS_AT_MOST
from sightline.providers._provider import Approval as Approval
from sightline.providers._provider import Channel as Channel
from sightline.providers._provider import CommandLine as CommandLine
from sightline.providers._provider import NotInstalled as NotInstalled
from sightline.providers._provider import OwnRuns as OwnRuns
from sightline.providers._provider import Provider as Provider
from sightline.providers._provider import ProviderOutcome as ProviderOutcome
from sightline.providers._provider import ProviderPrompt as ProviderPrompt
from sightline.providers._provider import ProviderWords as ProviderWords
from sightline.providers._provider import Run as Run
from sightline.providers._provider import StopsAgents as StopsAgents
from sightline.providers._provider import Unreachable as Unreachable
from sightline.providers._registry import get_provider as get_provider
from sightline.providers._registry import provider_names as provider_names
from sightline.providers._registry import recognise as recognise
from sightline.providers._source import LINE_CAP as LINE_CAP
from sightline.providers._source import DisplayEventSource as DisplayEventSource
from sightline.providers._source import ProviderSource as ProviderSource
from sightline.providers._stream import EventStream as EventStream

TYPE_CHECKING = False
# Reading a stream needs no event loop and no process; what runs things is imported when first used.
if TYPE_CHECKING:
    from sightline.providers._channel_run import ChannelRun as ChannelRun
    from sightline.providers._program_channel import ProgramChannel as ProgramChannel
    from sightline.providers._recorded import recorded as recorded
    from sightline.providers._requests import OpenRequest as OpenRequest
    from sightline.providers.running._doctor import ProviderStatus as ProviderStatus
    from sightline.providers.running._doctor import survey as survey
    from sightline.providers.running._runner import CliRun as CliRun
    from sightline.providers.running._runner import start_run as start_run

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
