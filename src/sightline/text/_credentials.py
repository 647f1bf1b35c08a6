"""Credentials in a text for people: what is wrong is said without them.

Rules:

- In an address, the user with a password, a user that is as long as a token, and the values of parameters that are
  named like a credential; of a header that carries one, its value; and keys of the forms well-known services give them.
- It is for messages, settings and logs: what nobody has to read exactly. A command that is to be approved is shown as
  it is.
"""

import re
from collections.abc import Callable
from functools import cache

HIDDEN = "[hidden]"

# To be used with re.VERBOSE and re.ASCII, where no letter or digit stands before it.
KEY_FORMS = r"""
    sk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}    # OpenAI, Anthropic and who copied them
  | [sr]k_(?:live|test)_[A-Za-z0-9]{10,} | whsec_[A-Za-z0-9+/]{16,}          # Stripe
  | gh[opsur]_[A-Za-z0-9]{20,} | github_pat_\w{20,}
  | gl(?:pat|dt|rt|cbt|ptt|oas|agent|ft|imt|soat)-[\w-]{16,}                 # GitLab
  | xox[abeoprs][.-][\w.-]{10,} | xapp-[\w-]{10,}                            # Slack
  | A(?:KIA|SIA)[A-Z0-9]{16}                                                 # Amazon
  | AIza[\w-]{30,} | ya29\.[\w-]{20,} | GOCSPX-[\w-]{20,}                    # Google
  | hf_[A-Za-z0-9]{30,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,} | do[opr]_v1_[0-9a-f]{30,}
  | hv[sbr]\.[\w-]{20,} | dp\.(?:pt|st|ct|sa)\.\w{30,} | ops_eyJ[\w-]{20,}   # Vault, Doppler, 1Password
  | gsk_\w{20,} | xai-\w{20,} | r8_\w{20,} | pplx-\w{20,} | fw_\w{20,} | tskey-[\w-]{12,}
  | dapi[0-9a-f]{32} | lin_api_\w{20,} | ntn_\w{20,} | figd_[\w-]{20,} | shp(?:at|ca|pa|ss)_[0-9a-f]{32}
  | glsa_\w{20,} | glc_[\w=]{20,} | NRAK-[A-Z0-9]{20,} | sntry[su]_[\w=+/]{20,} | sbp_[0-9a-f]{20,}
  | dckr_(?:pat|oat)_[\w-]{20,} | rubygems_[0-9a-f]{30,} | pscale_\w{1,30}_[\w-]{20,} | nfp_\w{20,} | pul-[0-9a-f]{30,}
  | ATATT3[\w=-]{20,} | ATBB\w{20,} | CCIPAT_\w{20,} | bk[uc]a_\w{20,} | HRKU-[\w-]{20,} | SK[0-9a-f]{32}
  | key-[0-9a-f]{32} | [0-9a-f]{32}-us[0-9]{1,2} | \w{14}\.atlasv1\.[\w-]{30,}
  | SG\.[\w-]{16,}\.[\w-]{16,}                   # SendGrid
  | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*           # a signed token (JWT)
  | [0-9]{6,12}:[A-Za-z0-9_-]{30,}               # a Telegram bot
  | [MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}    # a Discord bot
  | AGE-SECRET-KEY-1[A-Z0-9]{20,}
"""

_NAMES = (
    "access[_-]?token|auth[_-]?token|id[_-]?token|refresh[_-]?token|private[_-]?token|token|api[_-]?key|apikey|key|sig"
    "|signature|client[_-]?secret|secret|password|passwd|pwd|auth|authorization|credential|jwt|session"
    "|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)"
)
_HEADERS = (
    "(?:[a-z]{1,20}-){0,3}api[_-]?key|x-(?:[a-z]{1,20}-){0,3}(?:token|key|secret|auth)|(?:proxy-)?authorization"
    "|private-token|(?:set-)?cookie"
)
_TOKEN_AT_LEAST = 16  # characters of a user without a password


def without_credentials(text: str) -> str:
    """The text with `[hidden]` in place of each. Takes time in proportion to the text."""
    for pattern, replacement in _patterns():
        text = pattern.sub(replacement, text)
    return text


def _without_user(match: re.Match[str]) -> str:
    user = match[1]
    return f"://{HIDDEN}@" if ":" in user or len(user) >= _TOKEN_AT_LEAST else match[0]


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]:
    """Made when first needed: few runs have anything to hide."""
    quote, hidden = "[\"']?", re.escape(HIDDEN)
    value = rf"(?!{hidden})(?=[^\s\"'&]{{0,400}}[0-9=])[^\s\"',}}&]{{6,}}"
    header = rf"(?:{_HEADERS}){quote}\s{{0,4}}[:=]\s{{0,4}}{quote}"
    return (
        (re.compile(r"://([^\s/@?#]+)@"), _without_user),
        (re.compile(rf"(?i)([?&;#](?:{_NAMES})=)[^\s&;#\"'<>]+"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?i)\b({header})(?:[a-z]{{1,20}}\s{{1,4}})?{value}"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?i)\b((?:bearer|basic)\s{{1,4}}){value}"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?<![A-Za-z0-9])(?:{KEY_FORMS})", re.VERBOSE | re.ASCII), HIDDEN),
    )
