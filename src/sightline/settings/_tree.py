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


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Server(Section, frozen=True):
    """A model server of one's own: `[models.servers.NAME]`."""

    base_url: str  # the address of its API, such as http://localhost:8080/v1
    api: Literal["chat", "responses", "anthropic", "gemini"] = "chat"  # whose API it speaks
    api_key_env: str = ""  # the variable its key is in; keys are never written into a settings file
    models: list[str] = []  # what it offers, for a server that does not say
    context: Count = 0  # tokens its models read at most; 0: not known
    headers: dict[str, str] = {}  # sent with every request


class Models(Section, frozen=True):
    default: str = ""  # the model that works; empty: the best one there is a key or a server for
    small: str = ""  # for summaries and titles; empty: as default
    slow: str = ""  # for hard questions; empty: as default
    vision: str = ""  # for images, when the model that works cannot see; empty: as default
    thinking: Thinking = "medium"  # how long a model thinks before it answers, where it can
    max_output: Count = 0  # tokens of one answer at most; 0: the model's own limit
    discover: bool = True  # look for model servers on this machine
    servers: dict[str, Server] = {}  # model servers of your own, each a table `[models.servers.NAME]`


class Retry(Section, frozen=True):
    attempts: Count = 5  # after the first, when a server is overloaded or cannot be reached
    base_ms: Positive = 1000  # the first wait; each one after it is twice as long
    cap_ms: Positive = 60_000  # a server that asks for a longer wait than this is not waited for


class Compaction(Section, frozen=True):
    auto: bool = True  # summarise the conversation before it outgrows the model
    reserve: Positive = 16_384  # tokens kept free for the next answer
    keep_recent: Positive = 20_000  # tokens of the end of the conversation that stay as they are


class BranchSummary(Section, frozen=True):
    enabled: bool = False  # offer to summarise a branch that is left


class Permissions(Section, frozen=True):
    approval: Approval = "auto"  # what is done without asking; see permissions.md
    allow: list[str] = []  # rules, such as "exec(git push)" or "network(docs.python.org)"
    deny: list[str] = []  # rules that win over every other
    sandbox: bool = True  # commands a model chose run where they can change the workspace only
    sandbox_network: bool = False  # commands in the sandbox have all of the network, unasked
    pass_env: list[str] = []  # variables every command gets although they are withheld: "GITHUB_TOKEN", "AWS_*"


class Read(Section, frozen=True):
    default_limit: Positive = 300  # lines of a file when no range was asked for
    summarize: bool = True  # show the structure of a long source file instead of all of it
    hash_lines: bool = True  # line numbers and snapshot tags that the edit tool understands
    line_numbers: bool = True  # plain line numbers, where there are no hash lines


class Search(Section, frozen=True):
    context_before: Count = 1  # lines shown before a match
    context_after: Count = 3  # lines shown after a match


class Bash(Section, frozen=True):
    timeout: Seconds = 300.0  # seconds, when a call does not say
    max_timeout: Seconds = 3600.0  # seconds a call may ask for at most
    auto_background: bool = False  # a command that takes long becomes a job by itself
    auto_background_ms: Positive = 60_000  # how long that is
    shell: str = ""  # empty: bash where there is one, else sh
    persist_state: bool = True  # `cd` and exported variables last for the next commands of the session


class Async(Section, frozen=True):
    enabled: bool = True  # background jobs
    poll_wait: Wait = "30s"  # how long a model that polls waits for news at most
    max_jobs: Annotated[int, Meta(ge=1, le=100)] = 100  # at the same time


class Images(Section, frozen=True):
    max_bytes: Positive = 500_000  # what an image is made smaller than before a model sees it
    max_side: Positive = 1568  # pixels of its longer side, likewise


class Web(Section, frozen=True):
    timeout: Seconds = 20.0  # seconds for one page
    private_hosts: bool = False  # read addresses of this machine and of private networks


class Todo(Section, frozen=True):
    enabled: bool = True  # the model keeps a list of what is to be done
    reminders: bool = True  # tell the model when it ends with open tasks
    reminders_max: Count = 3  # in one run
    clear_delay: float = 60.0  # seconds until a task that is done or dropped leaves the list; below 0: never


class Console(Section, frozen=True):
    theme: Literal["auto", "dark", "light"] = "auto"  # auto: as the terminal's background
    keymap: Literal["emacs", "vim"] = "emacs"  # how the editor is used
    keys: dict[str, Any] = {}  # other keys for actions: tree = "ctrl+t"; see `/keys`
    double_escape: Literal["tree", "branch", "none"] = "tree"  # what Escape twice on an empty editor opens
    reasoning: bool = False  # show what the model thinks
    notify: bool = True  # a desktop notification when the session waits for you
    title: bool = True  # say in the terminal's title what goes on


class Extensions(Section, frozen=True):
    enabled: bool = True  # load extensions, a project's only in a folder you trust
    options: dict[str, Any] = {}  # by extension name


class Settings(Section, frozen=True):
    models: Models = Models()
    retry: Retry = Retry()
    compaction: Compaction = Compaction()
    branch_summary: BranchSummary = BranchSummary()
    permissions: Permissions = Permissions()
    read: Read = Read()
    search: Search = Search()
    bash: Bash = Bash()
    jobs: Async = Async()
    images: Images = Images()
    web: Web = Web()
    todo: Todo = Todo()
    console: Console = Console()
    extensions: Extensions = Extensions()
    # names of files with instructions, read from the workspace and the folders above
    context_files: list[str] = msgspec.field(default_factory=lambda: ["AGENTS.md", "CLAUDE.md"])
    instructions: str = ""  # added to what the model is told
