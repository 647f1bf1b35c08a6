"""The agents we are compared with, each with what it needs to talk to the stand-in and to no other server."""

from pathlib import Path

import msgspec

from sightline.testing import clis, peers
from sightline.testing.place import Place

NAMES = ("claude", "codex", "gemini", "opencode", "pi", "oh-my-pi")
_LIMITS = {"contextWindow": 1_000_000, "maxTokens": 64_000}
# Half a second after its prompt it would offer another model, over it.
_CODEX_NOTICE = '\n[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n'


def why_missing(name: str) -> str:
    """Empty when it is installed."""
    if name in peers.PEERS:
        return peers.missing(name)
    return "`python -m sightline.testing.clis install` has not been run" if name in clis.missing() else ""


def environment(name: str, place: Place) -> dict[str, str]:
    """All the environment it gets; its settings are written, its first questions answered."""
    env = place.environment(name)
    if name == "claude":
        write(place.home / ".claude.json", _claude_state(place, env["ANTHROPIC_API_KEY"]))
    elif name == "codex":
        settings = place.home / ".codex/config.toml"
        settings.write_text(settings.read_text().removesuffix(_CODEX_NOTICE) + _CODEX_NOTICE)
    elif name == "pi":
        write(place.home / ".pi/agent/models.json", {"providers": {"standin": _provider(place)}})
        write(place.home / ".pi/agent/settings.json", {"defaultProvider": "standin", "defaultModel": "standin-1"})
        env |= {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    elif name == "oh-my-pi":
        model = "standin/standin-1"
        startup = {"checkUpdate": False, "setupWizard": False, "changelogMode": "hidden"}
        roles = {"default": model, "smol": model}
        config = {"startup": startup, "marketplace": {"autoUpdate": "off"}, "modelRoles": roles}
        write(place.home / ".omp/agent/models.yml", {"providers": {"standin": _provider(place)}})
        write(place.home / ".omp/agent/config.yml", config)
    if name in peers.PEERS:
        env["PATH"] = f"{peers.binary_folder(name)}:{env['PATH']}"
    return env


def _claude_state(place: Place, key: str) -> dict[str, object]:
    """As after a first start: the key and the folder are approved."""
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    return {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "autoUpdates": False,
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(place.project): trusted},
    }


def _provider(place: Place) -> dict[str, object]:
    models = [{"id": "standin-1", **_LIMITS}]
    return {"baseUrl": f"{place.url}/v1", "api": "openai-completions", "apiKey": "standin", "models": models}


def write(path: Path, value: object) -> None:
    """As JSON, which is YAML too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(value))
