"""One typed settings tree, where its values come from, which of them wins, and what the permission rules allow."""

from sightline.settings._load import Loaded, load
from sightline.settings._places import extension_folders, project_of
from sightline.settings._start_options import StartOptions
from sightline.settings._stored_keys import keys_notice, store_key, stored_keys, with_stored_keys
from sightline.settings._tree import Approval, RetrySettings, Settings, Thinking
from sightline.settings._trust import Trust, is_trusted, trust_of, trusted_files
from sightline.settings.protection._gathered import Protected
from sightline.settings.protection._protected import open_entries, protected
from sightline.settings.rules._denied import denied_paths
from sightline.settings.rules._harmless import is_harmless
from sightline.settings.rules._policy import AccessRequest, Decision, Policy, Verdict, allows_alone
from sightline.settings.rules._remembered import Remembered, forget_rule, remember_rule, remembered_rules
from sightline.settings.rules._rule_text import named_rule, shown_rule, typed_rule
from sightline.settings.rules._rules import RuleMistake, anchored, parse_rule

__all__ = [
    "AccessRequest",
    "Approval",
    "Decision",
    "Loaded",
    "Policy",
    "Protected",
    "Remembered",
    "RetrySettings",
    "RuleMistake",
    "Settings",
    "StartOptions",
    "Thinking",
    "Trust",
    "Verdict",
    "allows_alone",
    "anchored",
    "denied_paths",
    "extension_folders",
    "forget_rule",
    "is_harmless",
    "is_trusted",
    "keys_notice",
    "load",
    "named_rule",
    "open_entries",
    "parse_rule",
    "project_of",
    "protected",
    "remember_rule",
    "remembered_rules",
    "shown_rule",
    "store_key",
    "stored_keys",
    "trust_of",
    "trusted_files",
    "typed_rule",
    "with_stored_keys",
]
