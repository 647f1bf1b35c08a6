"""One typed settings tree, where its values come from, which of them wins, and what the permission rules allow."""

from sightline.settings._denied import denied_paths
from sightline.settings._gathered import Protected
from sightline.settings._harmless import is_harmless
from sightline.settings._load import Loaded, load
from sightline.settings._places import extension_folders, project_of
from sightline.settings._policy import Decision, Policy, Verdict, Wanted, allows_alone
from sightline.settings._protected import open_entries, protected
from sightline.settings._remembered import Remembered, forget_rule, remember_rule, remembered_rules
from sightline.settings._rule_text import named_rule, shown_rule, typed_rule
from sightline.settings._rules import RuleMistake, parse_rule
from sightline.settings._stored_keys import store_key, stored_keys, with_stored_keys
from sightline.settings._tree import Approval, Retry, Settings, Thinking
from sightline.settings._trust import is_trusted, trusted_files, why_not_trusted

__all__ = [
    "Approval",
    "Decision",
    "Loaded",
    "Policy",
    "Protected",
    "Remembered",
    "Retry",
    "RuleMistake",
    "Settings",
    "Thinking",
    "Verdict",
    "Wanted",
    "allows_alone",
    "denied_paths",
    "extension_folders",
    "forget_rule",
    "is_harmless",
    "is_trusted",
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
    "trusted_files",
    "typed_rule",
    "why_not_trusted",
    "with_stored_keys",
]
