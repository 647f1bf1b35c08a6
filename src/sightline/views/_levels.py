"""What each approval level lets an agent do, in the words that every view uses."""

LEVELS = {
    "plan": "reads only; no edits, no commands",
    "edit": "edits files, asks before it runs commands",
    "auto": "edits files, runs sandboxed commands",
    "full": "does everything without asking, commands without the sandbox",
}
# Of another program's agent, which has no sandbox of ours.
LEVELS_OF_OTHERS = {
    "plan": "reads only",
    "edit": "edits files",
    "auto": "as its own settings say",
    "full": "does everything without asking",
}
