"""A neutral place to run a real agent CLI in: a small project, an empty home, and an environment with nothing else.

Each CLI gets the settings that make it talk to the stand-in, allow everything (unless it is to refuse what it would
have to ask about), and leave updates, statistics and sharing alone. Whatever it would still send elsewhere goes to the
stand-in as its proxy, which refuses it and lists it under `strays`: nothing leaves the machine.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from sightline.testing.clis import binary_folder

_README = """\
# Demo project

Adds up the stock in `data.csv`.

Run it with `python3 src/app.py`.
"""

_APP = '''\
"""Print how many pieces of fruit there are."""

import csv

GREETING = "hello"


def main():
    with open("data.csv", newline="") as stock:
        total = sum(int(row["pieces"]) for row in csv.DictReader(stock))
    print(GREETING, total)


main()
'''

_DATA = """\
fruit,pieces
apple,5
pear,7
plum,3
"""

_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "standin"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "{sandbox}"
model_reasoning_summary = "detailed"

[analytics]
enabled = false

[feedback]
enabled = false

[features]
plugins = false
apps = false

[tools.update_plan]
enabled = true

[model_providers.standin]
name = "standin"
base_url = "{url}/v1"
env_key = "STANDIN_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 2
supports_websockets = false

[projects."{project}"]
trust_level = "trusted"
"""

_CLAUDE_ALLOWED = ["Bash", "Read", "Edit", "Write", "Glob", "Grep", "Agent", "Task", "TaskCreate"]

_GEMINI_SETTINGS = {
    "model": {"name": "gemini-2.5-pro"},  # the default would first ask a model which model to ask
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 3},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "ide": {"enabled": False},
}

_GEMINI_POLICY = """\
[[rule]]
toolName = "*"
decision = "allow"
priority = 999
allow_redirection = true
"""

_ENVIRONMENTS: dict[str, dict[str, str]] = {
    "claude": {
        "ANTHROPIC_BASE_URL": "{url}",
        "ANTHROPIC_API_KEY": "sk-ant-standin",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # without it root, as in a container, may not lift its permissions
    },
    "codex": {"STANDIN_API_KEY": "standin"},
    "gemini": {"GEMINI_API_KEY": "standin", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    "opencode": {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
    "openai_compatible": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "standin"},
}


class Place(msgspec.Struct, frozen=True):
    """A home and a project folder, set up for the stand-in at `url`."""

    home: Path
    project: Path
    url: str

    def at(self, url: str) -> "Place":
        """The same place, its settings pointing at another stand-in."""
        write_home(self.home, self.project, url)
        return Place(self.home, self.project, url)

    def environment(self, provider: str) -> dict[str, str]:
        """All the environment this provider's CLI gets."""
        return {**self._common(), **own_environment(provider, self.url)}

    def _common(self) -> dict[str, str]:
        return {
            "PATH": search_path(),
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "USER": "dev",
            "LOGNAME": "dev",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TZ": "UTC",
            "NO_COLOR": "1",
            "HTTP_PROXY": self.url,
            "HTTPS_PROXY": self.url,
            "NO_PROXY": "127.0.0.1,localhost",
        }


def own_environment(provider: str, url: str) -> dict[str, str]:
    """The part of the environment that is this provider's own."""
    return {name: value.format(url=url) for name, value in _ENVIRONMENTS.get(provider, {}).items()}


def search_path() -> str:
    """The CLIs, then where this machine keeps the programs they use, then the usual places."""
    found = [shutil.which(program) for program in ("node", "git", "bash", "python3")]
    folders = [str(binary_folder()), *(os.path.dirname(path) for path in found if path)]
    return ":".join(dict.fromkeys([*folders, "/usr/local/bin", "/usr/bin", "/bin"]))


def prepare_place(folder: Path, url: str, *, allow: bool = True) -> Place:
    """Write the project and every CLI's settings below a folder."""
    place = Place(folder / "home", folder / "project", url)
    write_project(place.project)
    write_home(place.home, place.project, url, allow=allow)
    return place


def write_project(project: Path) -> None:
    """The demo project, as a git repository: codex asks for one and opencode takes its snapshots with git."""
    for name, text in {"README.md": _README, "src/app.py": _APP, "data.csv": _DATA}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-C", str(project), "-c", "user.name=dev", "-c", "user.email=dev@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "Demo project"]):
        subprocess.run([*git, *words], check=True, env={"PATH": os.environ["PATH"], "HOME": str(project)})


def write_home(home: Path, seen_project: Path, url: str, *, allow: bool = True) -> None:
    """Every CLI's settings; `seen_project` is where the CLIs will find the project."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    allowed = _CLAUDE_ALLOWED if allow else []
    _write(home / ".claude/settings.json", {"model": "claude-sonnet-4-5", "permissions": {"allow": allowed}})
    sandbox = "danger-full-access" if allow else "read-only"
    _write(home / ".codex/config.toml", _CODEX_CONFIG.format(url=url, project=seen_project, sandbox=sandbox))
    _write(home / ".gemini/settings.json", _GEMINI_SETTINGS)
    _write(home / ".gemini/policies/allow.toml", _GEMINI_POLICY if allow else "")
    _write(home / ".config/opencode/opencode.json", _opencode_settings(url, "allow" if allow else "ask"))


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else msgspec.json.encode(content))


def _opencode_settings(url: str, permission: str) -> dict[str, Any]:
    """Two providers: opencode joins the texts of a response over one API and keeps them apart over the other."""
    limit = {"context": 200_000, "output": 32_000}
    model = {"name": "Stand-in 1", "tool_call": True, "reasoning": True, "limit": limit}
    options = {"baseURL": f"{url}/v1", "apiKey": "standin"}
    apis = {"standin": "@ai-sdk/openai-compatible", "standin-anthropic": "@ai-sdk/anthropic"}
    return {
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": permission},
        "enabled_providers": list(apis),
        "model": "standin/standin-1",
        "small_model": "standin/standin-1",
        "provider": {
            name: {"npm": api, "name": name, "options": options, "models": {"standin-1": model}}
            for name, api in apis.items()
        },
    }
