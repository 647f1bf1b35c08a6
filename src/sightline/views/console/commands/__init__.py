"""Commands that are more than a list to choose from: what `_actions` names as handlers."""
