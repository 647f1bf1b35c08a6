"""Every setting there is: one typed tree. The comment beside a setting documents it; its value here is its default.

A setting is named by its path (`read.default_limit`). Sections are tables of the settings file.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Thinking = Literal["off", "minimal", "low", "medium", "high", "max"]
Wait = Literal["5s", "10s", "30s", "1m", "5m"]
Approval = Literal["auto", "plan", "edit", "full"]

Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Positive = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Seconds = Annotated[float, Meta(gt=0, le=1_000_000)]


class SettingsSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Server(SettingsSection, frozen=True):
    """A model server of one's own: `[models.servers.NAME]`."""

    base_url: str  # the address of its API, such as http://localhost:8080/v1
    api: Literal["chat", "responses", "anthropic", "gemini"] = "chat"  # which API it has
    api_key_env: str = ""  # the variable that holds its key; keys do not belong in a settings file
    models: list[str] = []  # names of its models, if the server does not list them
    context: Count = 0  # maximum tokens its models read; 0: unknown
    headers: dict[str, str] = {}  # sent with every request


class Models(SettingsSection, frozen=True):
    default: str = ""  # the model to use; empty: the best one you have a key or a server for
    small: str = ""  # for summaries and titles; empty: same as default
    slow: str = ""  # for hard questions (`--model slow`); empty: same as default
    vision: str = ""  # for images, if the default model cannot see; empty: same as default
    thinking: Thinking = "medium"  # how long the model thinks before it answers, if it can
    max_output: Count = 0  # maximum tokens of one answer; 0: the model's own limit
    discover: bool = True  # look for model servers on this machine
    servers: dict[str, Server] = {}  # model servers of your own, each a table `[models.servers.NAME]`


class RetrySettings(SettingsSection, frozen=True):
    attempts: Count = 5  # how often a request is retried when a server is overloaded or not reachable
    base_ms: Positive = 1000  # milliseconds before the first retry; doubled each time
    cap_ms: Positive = 60_000  # longest wait in milliseconds; if a server asks for more, the run fails


class Compaction(SettingsSection, frozen=True):
    auto: bool = True  # summarise the conversation before it exceeds the model's context
    reserve: Positive = 16_384  # tokens reserved for the next answer
    keep_recent: Positive = 20_000  # tokens at the end of the conversation that are not summarised


class BranchSummary(SettingsSection, frozen=True):
    enabled: bool = False  # offer a summary of the branch you leave in the tree


class Permissions(SettingsSection, frozen=True):
    approval: Approval = "auto"  # what the agent may do without asking; see permissions.md
    allow: list[str] = []  # rules, such as "exec(git push)" or "network(docs.python.org)"
    deny: list[str] = []  # rules that win over all others
    sandbox: bool = True  # run commands of the agent in the sandbox
    sandbox_network: bool = False  # sandboxed commands may use the whole network without asking
    pass_env: list[str] = []  # secret variables that every command gets: "GITHUB_TOKEN", "AWS_*"


class ReadSettings(SettingsSection, frozen=True):
    default_limit: Positive = 300  # lines of a file that are read when no range is given
    summarize: bool = True  # read the outline of a long source file instead of all of it
    hash_lines: bool = True  # show line numbers and tags that the edit tool understands
    line_numbers: bool = True  # show plain line numbers, if hash_lines is off


class Search(SettingsSection, frozen=True):
    context_before: Count = 1  # lines shown before a match
    context_after: Count = 3  # lines shown after a match


class Bash(SettingsSection, frozen=True):
    timeout: Seconds = 300.0  # seconds a command may run, if the call names no limit
    max_timeout: Seconds = 3600.0  # maximum seconds a call may ask for
    auto_background: bool = False  # turn a long command into a background job
    auto_background_ms: Positive = 60_000  # milliseconds after which a long command becomes one
    shell: str = ""  # the shell for commands; empty: bash if installed, else sh
    persist_state: bool = True  # `cd` and exported variables last for the next commands of the session


class Async(SettingsSection, frozen=True):
    enabled: bool = True  # allow background jobs
    poll_wait: Wait = "30s"  # how long the agent waits for a job in one call
    max_jobs: Annotated[int, Meta(ge=1, le=100)] = 100  # maximum number of jobs at the same time


class ImageSettings(SettingsSection, frozen=True):
    max_bytes: Positive = 500_000  # maximum size of an image sent to the model; larger ones are scaled down
    max_side: Positive = 1568  # maximum pixels of its longer side


class Web(SettingsSection, frozen=True):
    timeout: Seconds = 20.0  # seconds for one page
    private_hosts: bool = False  # allow addresses of this machine and of private networks


class Todo(SettingsSection, frozen=True):
    enabled: bool = True  # the agent maintains a todo list
    reminders: bool = True  # remind the model when it stops with open tasks
    reminders_max: Count = 3  # maximum reminders in one run
    clear_delay: float = 60.0  # seconds until a finished or dropped task leaves the list; below 0: never


class Task(SettingsSection, frozen=True):
    batch: bool = True  # one call may start several agents, with a context they share
    background: bool = False  # start agents in the background: the call returns at once
    max_concurrency: Annotated[int, Meta(ge=1, le=64)] = 8  # maximum number of agents that work at the same time
    max_depth: Count = 2  # levels of agents below the first one; 0: no agent starts another
    idle_seconds: Count = 420  # seconds until an idle agent is parked; a message wakes it; 0: never
    request_budget: Count = 90  # requests to the model after which an agent is reminded to finish; 0: no limit
    max_seconds: Count = 0  # seconds an agent may run; 0: no limit
    disabled: list[str] = []  # names of agents that may not be started
    isolation: Literal["auto", "overlay", "worktree", "copy", "off"] = "auto"  # how agents get their own files
    merge: Literal["patch", "branch"] = "patch"  # what an isolated agent changed: merge it, or commit it to a branch


class SkillSettings(SettingsSection, frozen=True):
    enabled: bool = True  # use skills (SKILL.md), a project's only in a folder you trust
    disabled: list[str] = []  # names of skills that are not used


class Irc(SettingsSection, frozen=True):
    timeout_seconds: Positive = 120  # seconds an agent waits for the answer to a message


class ConsoleSettings(SettingsSection, frozen=True):
    theme: Literal["auto", "dark", "light"] = "auto"  # colours for a dark or light background; auto: as the terminal
    keymap: Literal["emacs", "vim"] = "emacs"  # key bindings of the prompt
    keys: dict[str, Any] = {}  # other keys for actions: tree = "ctrl+t"; see `/keys`
    double_escape: Literal["tree", "branch", "none"] = "tree"  # what Escape twice opens in an empty editor
    reasoning: bool = False  # show the thinking of the model
    notify: bool = True  # a desktop notification when the session waits for you
    title: bool = True  # show the state of the session in the terminal's title


class ExtensionSettings(SettingsSection, frozen=True):
    enabled: bool = True  # load extensions, a project's only in a folder you trust
    options: dict[str, Any] = {}  # options of extensions, by their names


class Settings(SettingsSection, frozen=True):
    models: Models = Models()
    retry: RetrySettings = RetrySettings()
    compaction: Compaction = Compaction()
    branch_summary: BranchSummary = BranchSummary()
    permissions: Permissions = Permissions()
    read: ReadSettings = ReadSettings()
    search: Search = Search()
    bash: Bash = Bash()
    jobs: Async = Async()
    images: ImageSettings = ImageSettings()
    web: Web = Web()
    todo: Todo = Todo()
    task: Task = Task()
    skills: SkillSettings = SkillSettings()
    irc: Irc = Irc()
    console: ConsoleSettings = ConsoleSettings()
    extensions: ExtensionSettings = ExtensionSettings()
    # names of instruction files, read from the workspace and the folders above it
    context_files: list[str] = msgspec.field(default_factory=lambda: ["AGENTS.md", "CLAUDE.md"])
    instructions: str = ""  # added to the instructions of the model
