"""One typed settings tree, where its values come from, which of them wins, and what the permission rules allow."""

from sightline._later import later

TYPE_CHECKING = False
# A recording is viewed, and a command run, without any setting.
if TYPE_CHECKING:
    from sightline.settings._agent_files import AGENT_FOLDERS as AGENT_FOLDERS
    from sightline.settings._agent_files import COMMAND_FOLDERS as COMMAND_FOLDERS
    from sightline.settings._agent_files import PROJECT_FOLDERS as PROJECT_FOLDERS
    from sightline.settings._agent_files import user_agents_folder as user_agents_folder
    from sightline.settings._agent_files import user_commands_folder as user_commands_folder
    from sightline.settings._definition_search import LONGEST_NOTICE as LONGEST_NOTICE
    from sightline.settings._definition_search import FoundFile as FoundFile
    from sightline.settings._definition_search import SearchedFolders as SearchedFolders
    from sightline.settings._definition_search import search_definitions as search_definitions
    from sightline.settings._front_matter import LARGEST_PAGE as LARGEST_PAGE
    from sightline.settings._front_matter import NotFrontMatter as NotFrontMatter
    from sightline.settings._front_matter import Page as Page
    from sightline.settings._front_matter import page_in as page_in
    from sightline.settings._load import Loaded as Loaded
    from sightline.settings._load import load as load
    from sightline.settings._places import extension_folders as extension_folders
    from sightline.settings._places import home_of as home_of
    from sightline.settings._places import named_user_folder as named_user_folder
    from sightline.settings._places import project_of as project_of
    from sightline.settings._places import up_to_the_repository as up_to_the_repository
    from sightline.settings._skill_files import SKILL_FILE as SKILL_FILE
    from sightline.settings._skill_files import project_skill_folders as project_skill_folders
    from sightline.settings._skill_files import skill_files as skill_files
    from sightline.settings._skill_files import user_skills_folder as user_skills_folder
    from sightline.settings._start_options import StartOptions as StartOptions
    from sightline.settings._stored_keys import keys_notice as keys_notice
    from sightline.settings._stored_keys import store_key as store_key
    from sightline.settings._stored_keys import stored_keys as stored_keys
    from sightline.settings._stored_keys import with_stored_keys as with_stored_keys
    from sightline.settings._tree import Approval as Approval
    from sightline.settings._tree import RetrySettings as RetrySettings
    from sightline.settings._tree import Settings as Settings
    from sightline.settings._tree import Thinking as Thinking
    from sightline.settings._trust import Trust as Trust
    from sightline.settings._trust import forget_trust_below as forget_trust_below
    from sightline.settings._trust import is_trusted as is_trusted
    from sightline.settings._trust import trust_copy as trust_copy
    from sightline.settings._trust import trust_of as trust_of
    from sightline.settings._trust import trust_preserved as trust_preserved
    from sightline.settings._trust import trusted_agents as trusted_agents
    from sightline.settings._trust import trusted_commands as trusted_commands
    from sightline.settings._trust import trusted_files as trusted_files
    from sightline.settings._trust import trusted_skills as trusted_skills
    from sightline.settings._trust import untrusted_notice as untrusted_notice
    from sightline.settings.protection._gathered import Protected as Protected
    from sightline.settings.protection._protected import is_guarded as is_guarded
    from sightline.settings.protection._protected import open_entries as open_entries
    from sightline.settings.protection._protected import protected as protected
    from sightline.settings.protection._repositories import repository_of_worktree as repository_of_worktree
    from sightline.settings.rules._copied import denied_in_copy as denied_in_copy
    from sightline.settings.rules._denied import denied_paths as denied_paths
    from sightline.settings.rules._harmless import is_harmless as is_harmless
    from sightline.settings.rules._policy import AccessRequest as AccessRequest
    from sightline.settings.rules._policy import Decision as Decision
    from sightline.settings.rules._policy import Policy as Policy
    from sightline.settings.rules._policy import Verdict as Verdict
    from sightline.settings.rules._policy import allows_alone as allows_alone
    from sightline.settings.rules._remembered import Remembered as Remembered
    from sightline.settings.rules._remembered import copy_rules as copy_rules
    from sightline.settings.rules._remembered import forget_rule as forget_rule
    from sightline.settings.rules._remembered import forget_rules as forget_rules
    from sightline.settings.rules._remembered import remember_rule as remember_rule
    from sightline.settings.rules._remembered import remembered_rules as remembered_rules
    from sightline.settings.rules._rule_text import named_rule as named_rule
    from sightline.settings.rules._rule_text import shown_rule as shown_rule
    from sightline.settings.rules._rule_text import typed_rule as typed_rule
    from sightline.settings.rules._rules import RuleMistake as RuleMistake
    from sightline.settings.rules._rules import anchored as anchored
    from sightline.settings.rules._rules import parse_rule as parse_rule

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
