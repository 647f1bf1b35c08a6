"""Every command there is, in the order `/help` lists them."""

from sightline.views.console.commands._command import SlashCommand

_TODO = "[show|hide|edit|clear]"
_ALL = (
    SlashCommand("help", "what can be entered here, and the keys", "commands._help"),
    SlashCommand("model", "choose the model that works", "selectors._model", args="[NAME]"),
    SlashCommand("thinking", "how much the model thinks first", "selectors._thinking", args="[LEVEL]"),
    SlashCommand(
        "approvals",
        "what the agent may do: the level, and the rules",
        "selectors._approvals",
        args="[LEVEL|forget RULE]",
    ),
    SlashCommand("reasoning", "show what the model thinks, or not", "commands._showing", "reasoning", "[on|off]"),
    SlashCommand("unfold", "show more of every block, or less", "commands._showing", "unfold", "[on|off]"),
    SlashCommand("output", "the whole output of a call", "commands._showing", "output", "[HOW MANY BACK]"),
    SlashCommand("status", "model, context, tokens and cost, jobs and agents", "commands._status"),
    SlashCommand("stop", "stop what the agent is doing", "commands._work", "stop"),
    SlashCommand("queue", "send this when the agent is done", "commands._work", "queue", "[TEXT]"),
    SlashCommand("unqueue", "take back what waits to be sent", "commands._work", "unqueue"),
    SlashCommand("compact", "summarise the older part of the conversation", "commands._work", "compact", "[FOCUS]"),
    SlashCommand("todo", "the todo list: show it, edit it, put it away", "commands._todo", args=_TODO),
    SlashCommand("new", "another conversation, from nothing", "commands._work", "new"),
    SlashCommand("clear", "the same as /new: the model begins with an empty memory", "commands._work", "new"),
    SlashCommand("resume", "go on with another conversation", "selectors._resume", args="[WORDS]"),
    SlashCommand("tree", "go back in this conversation", "selectors._tree"),
    SlashCommand("branch", "go on from an earlier prompt", "selectors._branch"),
    SlashCommand("fork", "a copy of this conversation, to go on with", "selectors._fork"),
    SlashCommand("jobs", "commands that run behind the conversation", "selectors._jobs"),
    SlashCommand("agents", "the agents of this session, and what they do", "selectors._agents"),
    SlashCommand("files", "files changed in this session", "selectors._files"),
    SlashCommand("copy", "copy the last answer, as it was written", "commands._copying", "copy", "[all|code|output]"),
    SlashCommand("attach", "attach an image", "commands._work", "attach", "FILE|none"),
    SlashCommand("paste", "attach the image on the clipboard", "commands._work", "paste"),
    SlashCommand("history", "search what was entered before", "commands._work", "history"),
    SlashCommand("editor", "write in your editor", "commands._work", "editor"),
    SlashCommand("settings", "settings, and where they come from", "selectors._settings", args="[WORDS]"),
    SlashCommand("keys", "which key does what", "selectors._keys"),
    SlashCommand("theme", "dark or light", "selectors._theme", args="[auto|dark|light]"),
    SlashCommand("redraw", "clear the screen and draw everything anew", "commands._showing", "redraw"),
    SlashCommand("detach", "leave; the session goes on", "commands._leaving", "detach"),
    SlashCommand("quit", "leave; ends the session, or asks", "commands._leaving", "quit"),
)

COMMANDS = {command.name: command for command in _ALL}
