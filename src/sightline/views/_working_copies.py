"""What an agent works in that has files of its own, in a few words for every view."""

from sightline.events import AgentState


def copy_words(fact: AgentState) -> str:
    """What it is, and how much was changed in it; empty for an agent that works in the folder of the session."""
    if not fact.workplace:
        return ""
    if not fact.changed_files:
        return f"{fact.workplace}: no changes"
    files = "1 file" if fact.changed_files == 1 else f"{fact.changed_files} files"
    return f"{fact.workplace}: {files} +{fact.added} −{fact.removed}"
