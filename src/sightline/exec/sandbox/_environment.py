"""The environment a command gets that a model chose: without secrets, and in the sandbox without ways around it.

Rules:

- A variable is withheld when its name means secret, when its value looks like one, or when it leads to one: a file of
  credentials, the socket of an agent. In doubt it is withheld: a missing harmless variable is
  noticed, a leaked secret is not.
- By name: the name is cut into words (`npmAuthToken` and `NPM_AUTH_TOKEN` are the same three). Some words mean a secret
  anywhere, others only where a name ends, a number or a stage (`_2`, `_PROD`) after them aside. A prefix says nothing:
  `AWS_REGION` is no secret.
- A name does not count where it continues about the secret (`SECRET_NAME`, `CREDENTIAL_EXPIRATION`), where the key is
  none (`PUBLIC_KEY`, `CACHE_KEY`), and where the value is a switch, a public key or a fingerprint.
- By value: what `credentials_in` finds, private keys, and then what is as irregular as only a generated key is.
  Hexadecimal digits, UUIDs, paths and names of several short words are not judged so: commits, builds, machines and
  images are named by them.
- A file's name is a place, not a secret: it may be withheld, but it is not hidden.
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

from sightline.text import credentials_in

_NEEDED = frozenset(
    {"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "TERM", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH"}
)

# Not secrets themselves, but they lead to some.
_LEADING = frozenset(
    {
        "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "KRB5CCNAME", "VSCODE_GIT_IPC_HANDLE", "VSCODE_IPC_HOOK_CLI", "KUBECONFIG",
        "GOOGLE_APPLICATION_CREDENTIALS", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AZURE_CONFIG_DIR",
        "AZURE_FEDERATED_TOKEN_FILE", "CLOUDSDK_CONFIG", "BOTO_CONFIG", "DOCKER_CONFIG", "NETRC", "PGPASSFILE",
        "NPM_CONFIG_USERCONFIG", "XAUTHORITY", "SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "VAULT_AGENT_ADDR",
        "ANSIBLE_VAULT_PASSWORD_FILE", "DIRENV_DIFF", "__MISE_DIFF",
    }
)  # fmt: skip

# No secrets, but ways to services outside the sandbox that act for any client.
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
# Named or written like one, and none: what shells, session managers and toolchains set.
_HARMLESS = frozenset({"STARSHIP_SESSION_KEY", "MEMORY_PRESSURE_WRITE", "DIRENV_WATCHES", "GOSUMDB"})

_ANYWHERE = frozenset(
    {
        "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASSWORT", "CREDENTIAL", "CREDENTIALS",
        "CREDS", "APIKEY", "ASKPASS", "HTPASSWD", "MNEMONIC",
    }
)  # fmt: skip
# After one of those: something about the secret, such as what it is called and how long it holds.
_ABOUT = frozenset(
    {
        "NAME", "NAMES", "ARN", "EXPIRATION", "EXPIRES", "EXPIRY", "TTL", "TIMEOUT", "LIFETIME", "LENGTH", "TYPE",
        "KIND", "PROVIDER", "BACKEND", "ENGINE", "MANAGER", "HELPER", "POLICY", "ENABLED", "DISABLED", "REQUIRED",
        "HOST", "PORT", "REGION", "NAMESPACE", "PREFIX", "VERSION", "ARGS", "NODE", "MAIN", "COUNT",
    }
)  # fmt: skip
_AT_THE_END = frozenset(
    {
        "KEY", "KEYS", "TOKEN", "TOKENS", "PASS", "PW", "PWD", "AUTH", "PAT", "COOKIE", "JWT", "SAS", "PSK", "OTP",
        "AUTHORIZATION",
    }
)  # fmt: skip
# Before KEY and TOKEN: one that is no secret by its name, though its value may be.
_OTHER_KEYS = frozenset(
    {
        "CACHE", "PRIMARY", "FOREIGN", "SORT", "PARTITION", "SHARD", "GROUP", "OBJECT", "STATE", "LOCK", "PROJECT",
        "ISSUE", "EOS", "BOS", "PAD", "UNK", "MASK", "SEP", "CLS",
    }
)  # fmt: skip
_PUBLIC = frozenset({"PUBLIC", "PUB", "PUBLISHABLE"})
_TOGETHER = (("ACCESS", "KEY", "ID"), ("CONNECTION", "STRING"), ("CONN", "STR"), ("SEED", "PHRASE"))
_ENDINGS = (
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "CONNECTIONSTRING", "KEY", "PASS", "PWD",
)  # fmt: skip
_NOT_ENDINGS = (
    "MONKEY", "DONKEY", "TURKEY", "HOTKEY", "HOCKEY", "JOCKEY", "WHISKEY", "LACKEY", "COMPASS", "BYPASS", "TRESPASS",
    "SURPASS", "OVERPASS", "UNDERPASS", "KEEPASS", "LASTPASS", "MULTIPASS", "LOWPASS", "HIGHPASS", "BANDPASS", "OLDPWD",
)  # fmt: skip
_SHORT_PASSWORD = re.compile(r"(?:DB|SQL|ROOT|USER|ADMIN|SMTP|MAIL|FTP|LDAP)PW")
_COUNTED = frozenset({"MAX", "MIN", "NUM", "TOTAL"})  # MAX_TOKENS is a number of them
_FOLDERS = frozenset({"DIR", "FOLDER", "HOME"})
_PLACES = _FOLDERS | {"FILE", "PATH", "SOCK", "SOCKET", "CONFIG", "CREDENTIALS", "ASKPASS"}
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
        "ETAG", "REF", "HOST", "HOSTNAME", "NAME", "COLORS", "FINGERPRINT", "OPTIONS", "OPTS", "FLAGS", "ARGS", "TAG",
        "TAGS", "PROFILE", "IMAGE", "INTEGRITY", "SLUG", "BRANCH", "LABEL", "LABELS", "TITLE",
    }
)  # fmt: skip
_METHODS = frozenset(
    {
        "anonymous", "basic", "bearer", "cram-md5", "digest", "gssapi", "htpasswd", "iam", "kerberos", "key",
        "ldap", "login", "md5", "mtls", "negotiate", "ntlm", "oauth", "oauth2", "oidc", "password", "peer",
        "plain", "saml", "scram-sha-1", "scram-sha-256", "scram-sha-512", "spnego", "ssh", "tls", "token",
        "trust",
    }
)  # fmt: skip
_SWITCHES = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null"})

_hump = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_between_words = re.compile(r"[^A-Z0-9]+")

_private_key = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_public_key = re.compile(
    r"(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{1,20}|sk-[\w@.-]{1,60}) AAAA"
    r"|-----BEGIN (?:[A-Z0-9 ]{0,40}PUBLIC KEY|CERTIFICATE)|age1[a-z0-9]{20}|pk_(?:live|test)_",
    re.ASCII,
)
_fingerprint = re.compile(r"(?:0x)?(?:[0-9A-Fa-f]{8}){1,5}!?(?:\s|\Z)")
_webhook_address = re.compile(r"https?://[^\s/]+/\S")
_one_word = re.compile(r"[A-Za-z0-9_+/=.~-]{20,512}")
_hexadecimal = re.compile(r"[0-9a-fA-F.-]+")
_digest = re.compile(r"sha(?:1|256|384|512)[-:]")
_begins_like_a_path = re.compile(r"~?/|\.{1,2}/|[A-Za-z]:[\\/]")
# A generated key may begin with a slash, but not like one of these.
_path = re.compile(
    r"""
    (?: ~[\w.-]{0,40}/ | \.{1,2}/ | [A-Za-z]:[\\/] | /(?:
        app|builds?|certs?|code|data|dev|etc|github|home|keys?|Library|media|mnt|nix|opt|private|proc|project|root|run
        |secrets?|src|srv|ssl|tls|tmp|usr|Users|var|Volumes|work|workspaces?|__w
    )/ ) [^\n]+
    | /[^\n:]{1,4000}\.[a-z][a-z0-9]{1,4}
    """,
    re.VERBOSE | re.ASCII,
)
_socket_address = re.compile(r"(?:unix:(?://|path=)|^)(/[^,;]+)")
_separators = re.compile(r"[_+/=.~-]+")
_word_and_number = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)?[0-9]*|g?[0-9a-f]+")
_ONE_CASE_AT_LEAST = 24
_IN_ONE_PIECE = 8  # characters of a generated key: a name of several words has shorter ones


def filtered_environment(
    env: Mapping[str, str], *, passed: Iterable[str] = (), sandboxed: bool = False
) -> dict[str, str]:
    """What is left of `env` for a command. `passed`: names, or patterns of names, that the user lets it have."""
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


@lru_cache(2048)  # each command asks several times about each variable, and hardly one ever changes
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
    if _has_a_secret(value):
        return True
    if value.lower() in _SWITCHES or name.upper() in _HARMLESS:
        return False
    return _names_a_secret(name, value) or _is_irregular(name, value)


def _has_a_secret(value: str) -> bool:
    return _private_key.search(value) is not None or any(each.kind != "user" for each in credentials_in(value))


def _is_a_place(name: str, value: str) -> bool:
    """Whether it is a file's name: by the value, and less strictly where the variable's name means a file."""
    if _has_a_secret(value):
        return False
    if name.upper() in _LEADING or not _PLACES.isdisjoint(_words(name)):
        return _begins_like_a_path.match(value) is not None
    return _path.fullmatch(value) is not None


@lru_cache(1024)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in _between_words.split(_hump.sub("_", name).upper()) if word)


def _names_a_secret(name: str, value: str) -> bool:
    """Whether the name says so, and the value does not say that it is something else."""
    upper = name.upper()
    if upper in _SECRET_NAMES or upper.startswith(_SECRET_PREFIXES):
        return True
    words = list(_words(name))
    while len(words) > 1 and (words[-1].isdecimal() or words[-1] in _STAGES):
        words.pop()
    if not words or _public_key.match(value):
        return False
    if not _ANYWHERE.isdisjoint(words):
        return not _is_about_one(words, value)
    if words[-1] == "DSN" and any(credentials_in(value)):
        return True
    if not {"WEBHOOK", "WEBHOOKS"}.isdisjoint(words) and _webhook_address.match(value):
        return True
    if any(tuple(words[-len(end) :]) == end for end in _TOGETHER):
        return True
    return _ends_like_a_secret(words, upper) and not _is_another_key(words, value)


def _is_about_one(words: list[str], value: str) -> bool:
    """Whether it is about a secret: its name, how long it holds, the folder that secrets are in."""
    last = words[-1]
    if last in ("URL", "URI", "ENDPOINT"):
        return words[-2] not in _ANYWHERE
    if last == "ID":
        return words[-2] in ("CREDENTIAL", "CREDENTIALS")
    return last in _ABOUT or (last in _FOLDERS and _begins_like_a_path.match(value) is not None)


def _ends_like_a_secret(words: list[str], name: str) -> bool:
    last = words[-1]
    if last == "PWD":
        return name != "PWD"
    if last in _AT_THE_END or _SHORT_PASSWORD.fullmatch(last):
        return True
    return last.rstrip("0123456789").endswith(_ENDINGS) and not last.endswith(_NOT_ENDINGS)


def _is_another_key(words: list[str], value: str) -> bool:
    """Whether something that is called a key, a token or authentication is not what opens a door."""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("KEYS", "TOKENS") and (not _COUNTED.isdisjoint(words) or (value.isdecimal() and len(value) < 8)):
        return True
    if last in ("KEY", "KEYS", "TOKEN") and (before in _OTHER_KEYS or before in _PUBLIC):
        return True
    if last in ("AUTH", "AUTHORIZATION"):
        return value.lower() in _METHODS
    is_pgp = last in ("KEY", "KEYS") and not {"GPG", "PGP"}.isdisjoint(words) and "PRIVATE" not in words
    return is_pgp and _fingerprint.match(value) is not None


def _is_irregular(name: str, value: str) -> bool:
    """Whether only a generator writes like this: one word whose kinds of characters change all the time."""
    if _one_word.fullmatch(value) is None or _hexadecimal.fullmatch(value) or _begins_like_a_path.match(value):
        return False
    *_, before, last = ("", "", *_words(name))
    if last in _IDENTIFIERS or before in _PUBLIC or (before, last) == ("CACHE", "KEY"):
        return False
    if _digest.match(value) or _public_key.match(value):
        return False
    bare = _separators.sub("", value)
    kinds = [_kind(character) for character in bare]
    if "d" not in kinds or len(bare) < 2:
        return False
    pieces = _separators.split(value)
    if len(set(kinds)) < 3:  # of one case: shorter, or in parts, it may be the name of a machine or a container
        bare = max(pieces, key=len)
        kinds = [_kind(character) for character in bare]
        return len(bare) >= _ONE_CASE_AT_LEAST and _changes(kinds) >= 0.25 and _entropy(bare) >= 3.5
    if max((len(piece) for piece in pieces if not _word_and_number.fullmatch(piece)), default=0) < _IN_ONE_PIECE:
        return False
    return _changes(kinds) >= 0.35 and _entropy(bare) >= 3.4


def _kind(character: str) -> str:
    return "d" if character.isdigit() else "u" if character.isupper() else "l"


def _changes(kinds: list[str]) -> float:
    return sum(one != other for one, other in pairwise(kinds)) / (len(kinds) - 1)


def _entropy(text: str) -> float:
    """Bits of a character, by how often each stands in the text."""
    return -sum(count / len(text) * log2(count / len(text)) for count in Counter(text).values())
