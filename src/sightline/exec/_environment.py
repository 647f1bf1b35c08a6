"""The environment a command gets that a model chose: without secrets, and in the sandbox without ways around it.

Rules:

- A variable is withheld when its name says secret, when its value looks like one, or when it leads to one: a file of
  credentials, the socket of an agent. In doubt it is withheld: a command that misses a harmless variable says so, a
  secret that got out says nothing.
- By name: the name is cut into words (`npmAuthToken` and `NPM_AUTH_TOKEN` are the same three). Some words mean a secret
  anywhere, others only where a name ends, a number or a stage (`_2`, `_PROD`) after them aside. A prefix says nothing:
  `AWS_REGION` is no secret.
- By value: the forms well-known services give their keys, private keys, signed tokens, bot tokens, webhooks, and a
  password inside a URL or a connection string; then what is as irregular as only a generated key is. Hexadecimal
  digits, UUIDs and paths are not judged so: commits, builds and machines are named by them.
- What a command cannot run without (PATH, HOME, …) is never judged by its value.
- In the sandbox, what leads to services that act for their caller (display, D-Bus, tmux, Docker) is withheld, too.
- What a person names is passed all the same.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise
from math import log2

from sightline.text import KEY_FORMS

_NEEDED = frozenset(
    {"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "TERM", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH"}
)

# Not secrets themselves, but they give some to whoever asks, or say where some are.
_LEADING = frozenset(
    {
        "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "KRB5CCNAME", "VSCODE_GIT_IPC_HANDLE", "VSCODE_IPC_HOOK_CLI", "KUBECONFIG",
        "GOOGLE_APPLICATION_CREDENTIALS", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AZURE_CONFIG_DIR",
        "AZURE_FEDERATED_TOKEN_FILE", "CLOUDSDK_CONFIG", "BOTO_CONFIG", "DOCKER_CONFIG", "NETRC", "PGPASSFILE",
        "NPM_CONFIG_USERCONFIG", "XAUTHORITY", "SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "VAULT_AGENT_ADDR",
        "ANSIBLE_VAULT_PASSWORD_FILE",
    }
)  # fmt: skip

# No secrets, but ways to services outside the sandbox that act for whoever asks.
_CHANNELS = frozenset(
    {
        "DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "TMUX",
        "TMUX_PANE", "STY", "DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS", "PODMAN_HOST", "BUILDKIT_HOST",
        "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET", "ZELLIJ", "ZELLIJ_SESSION_NAME", "NVIM",
        "NVIM_LISTEN_ADDRESS", "EMACS_SOCKET_NAME", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE",
        "PULSE_SERVER", "PIPEWIRE_REMOTE", "SESSION_MANAGER", "AT_SPI_BUS_ADDRESS", "WSL_INTEROP",
    }
)  # fmt: skip

_SECRET_NAMES = frozenset({"BW_SESSION", "DOCKER_AUTH_CONFIG", "GPG_KEY_DATA", "KUBECONFIG_DATA", "KUBE_CONFIG_DATA"})
_SECRET_PREFIXES = ("OP_SESSION_", "TF_TOKEN_")

_ANYWHERE = frozenset(
    {
        "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "CREDS",
        "APIKEY", "ASKPASS", "HTPASSWD", "MNEMONIC",
    }
)  # fmt: skip
_AT_THE_END = frozenset(
    {
        "KEY",
        "KEYS",
        "TOKEN",
        "TOKENS",
        "PASS",
        "PWD",
        "AUTH",
        "PAT",
        "COOKIE",
        "JWT",
        "SAS",
        "PSK",
        "OTP",
        "AUTHORIZATION",
    }
)
_TOGETHER = (("ACCESS", "KEY", "ID"), ("CONNECTION", "STRING"), ("CONN", "STR"), ("SEED", "PHRASE"))
_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "CONNECTIONSTRING", "KEY")
_NOT_KEYS = ("MONKEY", "DONKEY", "TURKEY", "HOTKEY", "HOCKEY", "JOCKEY", "WHISKEY", "LACKEY")
_COUNTED = frozenset({"MAX", "NUM", "TOTAL"})  # MAX_TOKENS is a number of them
_PLACES = frozenset({"FILE", "PATH", "DIR", "FOLDER", "SOCK", "SOCKET", "CONFIG", "CREDENTIALS", "ASKPASS", "HOME"})
_STAGES = frozenset(
    {
        "PROD", "PRODUCTION", "DEV", "TEST", "STAGING", "LIVE", "OLD", "NEW", "PRIMARY", "SECONDARY", "BACKUP",
        "DEFAULT", "BASE64", "B64",
    }
)  # fmt: skip
# What is named so is often as irregular as a key.
_IDENTIFIERS = frozenset(
    {
        "ID", "IDS", "UUID", "GUID", "HASH", "SHA", "REV", "REVISION", "COMMIT", "VERSION", "DIGEST", "CHECKSUM",
        "ETAG", "REF", "HOST", "HOSTNAME", "NAME", "COLORS", "FINGERPRINT", "OPTIONS", "OPTS", "FLAGS", "ARGS",
    }
)  # fmt: skip

_hump = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_between_words = re.compile(r"[^A-Z0-9]+")

_secret_value = re.compile(
    r"""
    (?<![A-Za-z0-9]) (?:
    """
    + KEY_FORMS
    + r"""
      | hooks\.slack\.com/(?:services|workflows|triggers)/\w
      | (?:\w+\.)?discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]
      | [\w-]+\.webhook\.office\.com/webhook | outlook\.office(?:365)?\.com/webhook/
      | hooks\.zapier\.com/hooks/ | maker\.ifttt\.com/trigger/ | api\.telegram\.org/bot[0-9]
    )
    | -----BEGIN\ [A-Z0-9 ]*PRIVATE\ KEY
    | ://[^\s/:@?\#]*:[^\s/@?\#]+@                   # user:password@host
    | ://[A-Za-z0-9_.-]{20,}@                        # token@host
    | (?i:(?:^|[;&?\s])(?:password|passwd|pwd|accountkey|sharedaccesskey)\s*=\s*[^\s;&])
    | (?i:[?&](?:access_?token|auth_?token|token|api_?key|key|sig|signature|secret|auth)=[^\s&\#]{8})
    | (?i:_(?:authToken|auth|password)\s*=\s*["']?[^\s"']{8})
    | (?i:\bauthorization:\s*\S) | (?i:\bbearer\s+[\w.~+/=-]{12})
    """,
    re.VERBOSE | re.ASCII,
)
_userinfo = re.compile(r"://[^\s/@?#]+@")
_webhook_address = re.compile(r"https?://[^\s/]+/\S")
_one_word = re.compile(r"[A-Za-z0-9_+/=.~-]{20,512}")
_hexadecimal = re.compile(r"[0-9a-fA-F.-]+")
_begins_like_a_path = re.compile(r"~?/|\.{1,2}/|[A-Za-z]:[\\/]")
_socket_address = re.compile(r"(?:unix:(?://|path=)|^)(/[^,;]+)")
_separators = re.compile(r"[_+/=.~-]+")
_ONE_CASE_AT_LEAST = 24


def filtered_environment(
    env: Mapping[str, str], *, passed: Iterable[str] = (), sandboxed: bool = False
) -> dict[str, str]:
    """What is left of `env` for a command. `passed`: names, or patterns of names, that a person wants it to have."""
    named = tuple(passed)
    return {
        name: value
        for name, value in env.items()
        if not is_withheld(name, value, sandboxed=sandboxed) or is_named(name, named)
    }


def passed_variables(env: Mapping[str, str], patterns: Iterable[str], *, sandboxed: bool) -> tuple[str, ...]:
    """The names of those that are passed only because a person named them."""
    named = tuple(patterns)
    found = [name for name, value in env.items() if is_withheld(name, value, sandboxed=sandboxed)]
    return tuple(sorted(name for name in found if is_named(name, named)))


def sockets_in(env: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """The sockets that variables lead to, by their real paths."""
    named = [match[1] for name in names if (match := _socket_address.search(env.get(name, "")))]
    return tuple(path for path in map(os.path.realpath, named) if _is_socket(path))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def is_withheld(name: str, value: str, *, sandboxed: bool = False) -> bool:
    if name in _NEEDED:
        return False
    upper = name.upper()
    return upper in _LEADING or (sandboxed and upper in _CHANNELS) or _is_secret(name, value)


def is_named(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def secret_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Those whose values are secrets: not those that only lead to one, nor a file's name."""
    return {
        name: value
        for name, value in env.items()
        if name not in _NEEDED and _is_secret(name, value) and not _is_a_place(name, value)
    }


def _is_secret(name: str, value: str) -> bool:
    return _secret_value.search(value) is not None or _names_a_secret(name, value) or _is_irregular(name, value)


def _is_a_place(name: str, value: str) -> bool:
    """Whether it is a file's name, by the words of the variable's name and by the value."""
    if _secret_value.search(value) is not None:
        return False
    named = name.upper() in _LEADING or not _PLACES.isdisjoint(_words(name))
    return named and _begins_like_a_path.match(value) is not None


@lru_cache(1024)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in _between_words.split(_hump.sub("_", name).upper()) if word)


def _names_a_secret(name: str, value: str) -> bool:
    upper = name.upper()
    if upper in _SECRET_NAMES or upper.startswith(_SECRET_PREFIXES):
        return True
    words = list(_words(name))
    if not _ANYWHERE.isdisjoint(words):
        return True
    while len(words) > 1 and (words[-1].isdecimal() or words[-1] in _STAGES):
        words.pop()
    if not words:
        return False
    if words[-1] == "DSN" and _userinfo.search(value):
        return True
    if not {"WEBHOOK", "WEBHOOKS"}.isdisjoint(words) and _webhook_address.match(value):
        return True
    return any(tuple(words[-len(end) :]) == end for end in _TOGETHER) or _ends_like_a_secret(words, upper)


def _ends_like_a_secret(words: list[str], name: str) -> bool:
    last = words[-1]
    if last in ("KEYS", "TOKENS") and not _COUNTED.isdisjoint(words):
        return False
    if last == "PWD":
        return name != "PWD"
    if last in _AT_THE_END:
        return True
    return last.rstrip("0123456789").endswith(_ENDINGS) and not last.endswith(_NOT_KEYS)


def _is_irregular(name: str, value: str) -> bool:
    """Whether only a generator writes like this: one word whose kinds of characters change all the time."""
    if _one_word.fullmatch(value) is None or _hexadecimal.fullmatch(value) or _begins_like_a_path.match(value):
        return False
    if not _IDENTIFIERS.isdisjoint(_words(name)[-1:]):
        return False
    bare = _separators.sub("", value)
    kinds = [_kind(character) for character in bare]
    if "d" not in kinds or len(bare) < 2:
        return False
    if len(set(kinds)) < 3:  # of one case: shorter, or in parts, it may be the name of a machine or a container
        bare = max(_separators.split(value), key=len)
        kinds = [_kind(character) for character in bare]
        return len(bare) >= _ONE_CASE_AT_LEAST and _changes(kinds) >= 0.25 and _entropy(bare) >= 3.5
    return _changes(kinds) >= 0.35 and _entropy(bare) >= 3.4


def _kind(character: str) -> str:
    return "d" if character.isdigit() else "u" if character.isupper() else "l"


def _changes(kinds: list[str]) -> float:
    return sum(one != other for one, other in pairwise(kinds)) / (len(kinds) - 1)


def _entropy(text: str) -> float:
    """Bits of a character, by how often each stands in the text."""
    return -sum(count / len(text) * log2(count / len(text)) for count in Counter(text).values())
