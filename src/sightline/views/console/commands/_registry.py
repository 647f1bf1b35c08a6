"""Every command there is, in the order `/help` lists them."""

from sightline.views.console.commands._command import SlashCommand

_TODO = "[show|hide|edit|clear]"
_ALL = (
    SlashCommand("help", "commands and keys", "commands._help"),
    SlashCommand("model", "choose the model", "selectors._model", args="[NAME]"),
    SlashCommand("setup", "add a key, a CLI or a local server", "selectors._setup"),
    SlashCommand(
        "provider",
        "work with Claude Code, Codex, Gemini CLI or OpenCode (--provider)",
        "commands._elsewhere",
        "provider",
        "[NAME]",
    ),
    SlashCommand("thinking", "how long the model thinks", "selectors._thinking", args="[LEVEL]"),
    SlashCommand(
        "approvals",
        "what the agent may do: the approval level and the rules",
        "selectors._approvals",
        args="[LEVEL|forget RULE]",
    ),
    SlashCommand("reasoning", "show or hide what the model thinks", "commands._showing", "reasoning", "[on|off]"),
    SlashCommand("unfold", "show more of every block, or less", "commands._showing", "unfold", "[on|off]"),
    SlashCommand("output", "the whole output of a call", "commands._showing", "output", "[HOW MANY BACK]"),
    SlashCommand("status", "model, context, tokens and cost, jobs and agents", "commands._status"),
    SlashCommand("stop", "stop the agent", "commands._work", "stop"),
    SlashCommand("queue", "send this when the agent is done", "commands._work", "queue", "[TEXT]"),
    SlashCommand("unqueue", "edit queued messages", "commands._work", "unqueue"),
    SlashCommand("compact", "summarise the older part of the conversation", "commands._work", "compact", "[FOCUS]"),
    SlashCommand("todo", "show, edit or clear the todo list", "commands._todo", args=_TODO),
    SlashCommand("new", "start a new session", "commands._work", "new"),
    SlashCommand("clear", "the same as /new", "commands._work", "new"),
    SlashCommand("resume", "open another session", "selectors._resume", args="[WORDS]"),
    SlashCommand("tree", "go back to an earlier point, in this session", "selectors._tree"),
    SlashCommand("branch", "start a new session from an earlier prompt", "selectors._branch"),
    SlashCommand("fork", "start a new session with all of this one", "selectors._fork"),
    SlashCommand("rename", "give this session a title", "commands._sessions", "rename", "TITLE"),
    SlashCommand("jobs", "background jobs: their output, and cancelling them", "selectors._jobs"),
    SlashCommand("agents", "the agents of this session", "selectors._agents"),
    SlashCommand("files", "files changed in this session", "selectors._files"),
    SlashCommand("copy", "copy the last answer", "commands._copying", "copy", "[all|code|output]"),
    SlashCommand("attach", "attach an image", "commands._work", "attach", "FILE|none"),
    SlashCommand("paste", "attach the image on the clipboard", "commands._work", "paste"),
    SlashCommand("history", "search earlier prompts", "commands._work", "history"),
    SlashCommand("editor", "write in your editor", "commands._work", "editor"),
    SlashCommand(
        "settings", "settings: what each one does, its value and its source", "selectors._settings", args="[WORDS]"
    ),
    SlashCommand("keys", "show and change keys", "selectors._keys"),
    SlashCommand("theme", "dark or light", "selectors._theme", args="[auto|dark|light]"),
    SlashCommand("redraw", "clear the screen and draw it again", "commands._showing", "redraw"),
    SlashCommand("serve", "see your sessions in a browser", "commands._elsewhere", "serve"),
    SlashCommand("detach", "leave; the session keeps running", "commands._leaving", "detach"),
    SlashCommand("quit", "leave and end the session; asks if something is running", "commands._leaving", "quit"),
)

COMMANDS = {command.name: command for command in _ALL}
