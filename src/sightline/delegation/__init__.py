"""Agents that run agents: which there are, their lives, their mail, and the tools by which they delegate."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.delegation._directory import AgentDirectory as AgentDirectory
    from sightline.delegation._directory import SpawnRequest as SpawnRequest
    from sightline.delegation._driver import Driver as Driver
    from sightline.delegation._driver import DriverOutcome as DriverOutcome
    from sightline.delegation._driver import OwnProgram as OwnProgram
    from sightline.delegation._driver import ProgramStart as ProgramStart
    from sightline.delegation._member import AgentResult as AgentResult
    from sightline.delegation._member import Member as Member
    from sightline.delegation._team import Team as Team
    from sightline.delegation.definitions._definition import AgentDefinition as AgentDefinition
    from sightline.delegation.definitions._discovery import AgentCatalogue as AgentCatalogue
    from sightline.delegation.definitions._discovery import find_agents as find_agents
    from sightline.delegation.definitions._extension_agents import AgentDefinitions as AgentDefinitions
    from sightline.delegation.definitions._extension_agents import find_agents_here as find_agents_here
    from sightline.delegation.definitions._new_definition import new_definition as new_definition
    from sightline.delegation.definitions._new_definition import new_project_definition as new_project_definition

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
