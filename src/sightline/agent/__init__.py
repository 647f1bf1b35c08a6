"""Our own agent: its loop, its conversation, its permissions and its extensions."""

from sightline._later import later

TYPE_CHECKING = False
# An extension's file needs a few of these names in the console too, which runs no agent.
if TYPE_CHECKING:
    from sightline.agent._agent import Agent as Agent
    from sightline.agent._agent import skill_named as skill_named
    from sightline.agent._build import NOT_FOR_SUBAGENTS as NOT_FOR_SUBAGENTS
    from sightline.agent._build import AgentSpec as AgentSpec
    from sightline.agent._build import agent_spec as agent_spec
    from sightline.agent._build import build as build
    from sightline.agent._build import model_of as model_of
    from sightline.agent._reloading import take_settings as take_settings
    from sightline.agent._skills import publish_skills as publish_skills
    from sightline.agent.commands._command_file import CommandFile as CommandFile
    from sightline.agent.commands._discovery import CommandCatalogue as CommandCatalogue
    from sightline.agent.commands._discovery import find_commands as find_commands
    from sightline.agent.commands._file_commands import add_file_commands as add_file_commands
    from sightline.agent.commands._file_commands import own_names as own_names
    from sightline.agent.conversation._repair import missing_messages as missing_messages
    from sightline.agent.conversation._summaries import summarise_branch as summarise_branch
    from sightline.agent.extensions._files import add_extensions as add_extensions
    from sightline.agent.extensions._files import not_trusted_notice as not_trusted_notice
    from sightline.agent.extensions._hooks import Block as Block
    from sightline.agent.extensions._hooks import Call as Call
    from sightline.agent.extensions._hooks import Cancelled as Cancelled
    from sightline.agent.extensions._hooks import Hooks as Hooks
    from sightline.agent.extensions._hooks import NewArgs as NewArgs
    from sightline.agent.extensions._hooks import Summary as Summary
    from sightline.agent.loop._command_run import StreamedText as StreamedText
    from sightline.agent.loop._headless_commands import HeadlessRun as HeadlessRun
    from sightline.agent.loop._headless_commands import headless_commands as headless_commands
    from sightline.agent.loop._queue import How as How
    from sightline.agent.loop._queue import ReturnedPrompts as ReturnedPrompts
    from sightline.agent.loop._run import RunOutcome as RunOutcome
    from sightline.agent.loop._run import added as added
    from sightline.agent.loop._side_question import SideQuestion as SideQuestion
    from sightline.agent.permissions._given_rules import begin_with_rules as begin_with_rules
    from sightline.agent.permissions._given_rules import with_stored_rules as with_stored_rules
    from sightline.agent.permissions._levels import LEVELS as LEVELS
    from sightline.agent.permissions._permissions import level_left as level_left
    from sightline.agent.permissions._permissions import level_notice as level_notice
    from sightline.agent.permissions._permissions import resumed_level as resumed_level

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
