"""The environment a command gets that a model chose: without secrets.

A variable goes when its name says secret or its value looks like one. In doubt it goes: a command that misses a
harmless variable says so, a secret that got out says nothing.

- By name: the name is cut into words (`npmAuthToken` and `NPM_AUTH_TOKEN` are the same three). Some words mean a secret
  anywhere, others only where a name ends, a number or a stage (`_2`, `_PROD`) after them aside.
- By value: the forms well-known services give their keys, private keys, signed tokens, and a password inside a URL or a
  connection string.
- What a command cannot run without (PATH, HOME, …) is never judged by its value.
"""

import re
from collections.abc import Mapping

_NEEDED = frozenset(
    {"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "TERM", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH"}
)

# Not secrets themselves, but they hand some out or lead to who does.
_NAMES = frozenset({"SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DOCKER_AUTH_CONFIG", "KRB5CCNAME", "VSCODE_GIT_IPC_HANDLE"})
_PREFIXES = ("AWS_",)

_ANYWHERE = frozenset(
    {
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "CREDS",
        "APIKEY",
        "ASKPASS",
    }
)
_AT_THE_END = frozenset({"KEY", "KEYS", "TOKEN", "TOKENS", "PASS", "PWD", "AUTH", "PAT", "COOKIE"})
_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "KEY")
_NOT_KEYS = ("MONKEY", "DONKEY", "TURKEY", "HOTKEY", "HOCKEY", "JOCKEY", "WHISKEY", "LACKEY")
_COUNTED = frozenset({"MAX", "NUM", "TOTAL"})  # MAX_TOKENS is a number of them

_STAGES = frozenset(
    {
        "PROD",
        "PRODUCTION",
        "DEV",
        "TEST",
        "STAGING",
        "LIVE",
        "OLD",
        "NEW",
        "PRIMARY",
        "SECONDARY",
        "BACKUP",
        "DEFAULT",
        "BASE64",
        "B64",
    }
)

_hump = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_between_words = re.compile(r"[^A-Z0-9]+")

_secret_value = re.compile(
    r"""
    (?<![A-Za-z0-9]) (?:
        sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}    # OpenAI, Anthropic and who copied them
      | [sr]k_(?:live|test)_[A-Za-z0-9]{10,}         # Stripe
      | gh[opsur]_[A-Za-z0-9]{20,} | github_pat_\w{20,}
      | gl(?:pat|dt|rt|cbt|ptt)-[\w-]{16,}           # GitLab
      | xox[abeoprs]-[\w-]{10,} | xapp-[\w-]{10,}    # Slack
      | A(?:KIA|SIA)[A-Z0-9]{16}                     # Amazon
      | AIza[\w-]{30,} | ya29\.[\w-]{20,}            # Google
      | hf_[A-Za-z0-9]{30,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,} | dop_v1_[0-9a-f]{30,}
      | SG\.[\w-]{16,}\.[\w-]{16,}                   # SendGrid
      | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*           # a signed token (JWT)
      | AGE-SECRET-KEY-1[A-Z0-9]{20,}
    )
    | -----BEGIN\ [A-Z0-9 ]*PRIVATE\ KEY
    | hooks\.slack\.com/services/\w
    | ://[^\s/:@?\#]*:[^\s/@?\#]+@                   # user:password@host
    | (?i:(?:^|[;&?\s])(?:password|passwd|pwd|accountkey|sharedaccesskey)\s*=\s*[^\s;&])
    | (?i:\bauthorization:\s*\S)
    """,
    re.VERBOSE | re.ASCII,
)


def filtered_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What is left of `env` without its secrets."""
    return {name: value for name, value in env.items() if name in _NEEDED or not _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    return _names_a_secret(name) or _secret_value.search(value) is not None


def _names_a_secret(name: str) -> bool:
    upper = name.upper()
    if upper in _NAMES or upper.startswith(_PREFIXES):
        return True
    words = [word for word in _between_words.split(_hump.sub("_", name).upper()) if word]
    if not _ANYWHERE.isdisjoint(words):
        return True
    while len(words) > 1 and (words[-1].isdecimal() or words[-1] in _STAGES):
        words.pop()
    return bool(words) and _ends_like_a_secret(words, upper)


def _ends_like_a_secret(words: list[str], name: str) -> bool:
    last = words[-1]
    if last in ("KEYS", "TOKENS") and not _COUNTED.isdisjoint(words):
        return False
    if last == "PWD":
        return name != "PWD"
    if last in _AT_THE_END:
        return True
    return last.rstrip("0123456789").endswith(_ENDINGS) and not last.endswith(_NOT_KEYS)
