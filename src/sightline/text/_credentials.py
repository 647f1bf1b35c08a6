"""Credentials in a text: found by how they look, or by the name before them.

Rules:

- `credentials_in` finds them for programs: whether a value has one in it, and which part of the value it is. These are
  keys of the forms well-known services give them, the user and password of an address, the path of a webhook,
  parameters and fields that are named like a credential, and the values of headers that carry one.
- The user and password of an address end at the last `@` before its path. A password with `/`, `?` or `#` in it is
  recognised by what stands before them: `me:pa/ss@host` cannot be a host and its port.
- `without_credentials` hides them from people: it is for messages, settings and logs, which need not be exact.
  A command that is to be approved is shown as it is.
- Every pattern takes time in proportion to the text: what is repeated without end stands last, or cannot contain what
  the pattern begins with, or is bounded.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

HIDDEN = "[hidden]"

# To be used with re.VERBOSE and re.ASCII, where no letter or digit stands before it.
_KEY_FORMS = r"""
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
  | sq0[a-z]{3}-[\w-]{20,} | EAAA(?=[A-Za-z_-]{0,80}[0-9])[\w-]{56,}         # Square
  | pat[A-Za-z0-9]{14}\.[0-9a-f]{40,} | fm[12][a-z]?_[\w+/=-]{10,}           # Airtable, Fly
  | v1\.0-[0-9a-f]{16,32}-[0-9a-f]{100,}                                     # Cloudflare
  | key-[0-9a-f]{32} | [0-9a-f]{32}-us[0-9]{1,2} | \w{14}\.atlasv1\.[\w-]{30,}
  | SG\.[\w-]{16,64}\.[\w-]{16,}                      # SendGrid
  | eyJ[\w-]{8,1000}\.eyJ[\w-]{8,4000}\.[\w-]*        # a signed token (JWT)
  | [0-9]{6,12}:[A-Za-z0-9_-]{30,}                    # a Telegram bot
  | [MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}         # a Discord bot
  | AGE-SECRET-KEY-1[A-Z0-9]{20,}
"""
_KEY = rf"(?<![A-Za-z0-9])(?:bot(?=[0-9]))?(?P<key>{_KEY_FORMS})"

# The path behind one of these is all that is needed to write there.
_HOOK = r"""
  (?: (?<![A-Za-z0-9]) (?:
        hooks\.slack\.com/(?:services|workflows|triggers)/
      | discord(?:app)?\.com/api/(?:v[0-9]{1,3}/)?webhooks/(?=[0-9])
      | outlook\.office(?:365)?\.com/webhook/
      | hooks\.zapier\.com/hooks/ | maker\.ifttt\.com/(?:trigger|use)/ | api\.telegram\.org/bot(?=[0-9])
      | hook\.(?:[a-z0-9]{1,8}\.)?(?:make|integromat)\.com/
      | open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/
      | events\.(?:eu\.)?pagerduty\.com/integration/
    )
    | \.webhook\.office\.com/webhook[a-z0-9]{0,10}/
    | /hooks/(?=[a-z]{0,25}[0-9])(?=[a-z0-9]{26}(?![A-Za-z0-9]))       # Mattermost
    | /hooks/(?=[A-Za-z0-9]{17,24}/[A-Za-z0-9]{40})                    # Rocket.Chat
  ) (?P<hook>[^\s"'<>?\#]+)
"""

# A quote belongs to an address only if the address continues behind it.
_IN_ADDRESS = r"""[^\s/?\#"'<>]*(?:["'](?![,:;)\]}\s]|\Z)[^\s/?\#"'<>]*)*"""
_ADDRESS = rf"""
  :(?:\\?/){{2}} (?:
      (?P<user>(?!\[)[^\s/?\#:@"'<>]*) (?: :(?P<password>{_IN_ADDRESS}) )? @(?!sha(?:256|512):)
    | (?: (?!\[)[^\s/?\#:@"'<>]+:(?![0-9]*(?:[/?\#]|\Z)|[$\{{]) | : )
      (?P<odd_password>[^\s@"'<>]{{1,256}}+(?>(?:@[^\s/?\#@"'<>]{{1,256}}+(?=@)){{0,8}})) @(?=[\w\[])(?!sha(?:256|512):)
  )
"""

_PARAMETERS = (
    "access[_-]?token|auth[_-]?token|id[_-]?token|refresh[_-]?token|private[_-]?token|token|api[_-]?key|apikey|sig"
    "|signature|client[_-]?secret|secret|authorization|credential|jwt|sas|subscription[_-]key"
    "|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)"
)
_VAGUE_PARAMETERS = "key|code|auth|session"
_FIELDS = (
    r"password|passwd|passphrase|pwd(?!\s{0,8}=\s{0,8}[\"']?[/~.])|accountkey|sharedaccesskey"
    "|sharedaccesssignature|account_key|secret_?key|client_?secret"
)
_HEADERS = (
    "(?:[a-z]{1,20}-){0,3}(?:api|subscription|functions)[_-]?key"
    "|x-(?:[a-z]{1,20}-){0,3}(?:token|key|secret|auth|password)|(?:proxy-)?authorization|(?:private|job|deploy)-token"
)
_SCHEMES = "bearer|basic|token|apikey|negotiate|digest"
_NO_VALUE = r"(?:true|false|yes|no|on|off|none|null|required|optional|[01])(?![^\s;&,\"')])|[$%{<*\[]"

_ELSEWHERE = rf"""
  (?i: [?&;\#](?:{_PARAMETERS})=(?P<parameter>[^\s&;\#"'<>]{{8,}})
     | [?&;\#](?:{_VAGUE_PARAMETERS})=(?P<vague>(?=[^\s&;\#"'<>0-9]{{0,400}}[0-9])[^\s&;\#"'<>]{{8,}})
     | (?<![A-Za-z0-9_])(?:{_FIELDS})\s{{0,8}}=\s{{0,8}}["']?(?!{_NO_VALUE})(?P<field>[^\s;"']+)
     | _(?:authToken|auth|password)\s{{0,8}}=\s{{0,8}}["']?(?P<npm>[^\s"';]{{8,}})
     | \b(?:{_HEADERS})["']?\s{{0,4}}:\s{{0,4}}["']?(?: (?:{_SCHEMES})\s{{1,4}}(?P<spoken>[^\s"',}}]+)
         | (?P<header>(?=[^\s"',}}0-9]{{0,400}}[0-9])[^\s"',}}]{{8,}}) )
     | \A\s{{0,8}}(?:{_SCHEMES})\s{{1,4}}(?P<alone>[\w.~+/=-]{{8,}})\s{{0,8}}\Z
     | \b(?:bearer|basic)\s{{1,4}}(?P<scheme>(?=[a-z_.~+/-]{{0,400}}[0-9=])[\w.~+/=-]{{12,}})
  )
"""

_USER_AT_LEAST = 16  # characters of a user without a password that is hidden
_TOKEN_AT_LEAST = 20  # and of one that is a secret
# What stands where a credential would, in sentences about credentials.
_ORDINARY = frozenset(
    {
        "access", "apikey", "authentication", "authorization", "basic", "bearer", "cannot", "credential",
        "credentials", "denied", "digest", "empty", "expected", "expired", "failed", "failure", "forbidden",
        "header", "headers", "helper", "incorrect", "invalid", "malformed", "missing", "needed", "negotiate",
        "optional", "password", "provided", "rejected", "required", "revoked", "scheme", "schemes", "secret",
        "should", "string", "tokens", "unauthorized", "undefined", "unknown", "unsupported", "values",
        "wrong",
    }
)  # fmt: skip

_has_digit = re.compile("[0-9]")
# What stands in every text that something is hidden in: most sentences have none of it, and need no pattern.
_may_have_one = re.compile(r"[:=%/]|[\w.+-]{12}|bearer|basic", re.IGNORECASE).search
_token = re.compile(r"[A-Za-z0-9_.-]+")


class Credential(NamedTuple):
    """A part of a text. `kind` is one of password, token, key, hook and user: a user may be any name."""

    kind: str
    value: str


_KINDS = {"key": "key", "hook": "hook", "password": "password", "odd_password": "password", "field": "password"}


def credentials_in(text: str) -> Iterator[Credential]:
    """Those that stand in a text, from its beginning. Takes time in proportion to the text."""
    for match in _credential().finditer(text):
        found, place = match[match.lastgroup or 0], match.lastgroup or ""
        if place in ("user", "password"):
            yield from _of_address(match["user"], match["password"] or "")
        elif place in ("spoken", "alone") and found.lower() in _ORDINARY:
            continue
        else:
            yield Credential(_KINDS.get(place, "token"), found)


def _of_address(user: str, password: str) -> Iterator[Credential]:
    if password:
        yield Credential("password", password)
    if user and password in ("", "x-oauth-basic"):
        is_token = len(user) >= _TOKEN_AT_LEAST and _token.fullmatch(user) and _has_digit.search(user)
        yield Credential("token" if is_token else "user", user)


@cache
def _credential() -> re.Pattern[str]:
    return re.compile(rf"{_KEY} | {_HOOK} | {_ADDRESS} | {_ELSEWHERE}", re.VERBOSE | re.ASCII)


def without_credentials(text: str) -> str:
    """The text with `[hidden]` in place of each. Takes time in proportion to the text."""
    if _may_have_one(text) is None:
        return text
    for pattern, replacement in _patterns():
        text = pattern.sub(replacement, text)
    return text


def _without_user(match: re.Match[str]) -> str:
    user = match["user"]
    if user is not None and match["password"] is None and len(user) < _USER_AT_LEAST:
        return match[0]
    return f"{match[0][: match[0].rindex('/') + 1] if user is not None else '://'}{HIDDEN}@"


def _without_escaped_user(match: re.Match[str]) -> str:
    user = match[2].lower()
    return f"{match[1]}{HIDDEN}%40" if "%3a" in user or len(user) >= _USER_AT_LEAST else match[0]


def _without_hook(match: re.Match[str]) -> str:
    return match[0] if match["hook"].startswith(HIDDEN) else match[0].removesuffix(match["hook"]) + HIDDEN


def _without_header(match: re.Match[str]) -> str:
    """A value without a digit is one when it stands alone: not as a word of a sentence."""
    value = match["value"].rstrip(".;:)")
    if value.startswith(HIDDEN):
        return match[0]
    is_word = not any(sign.isdigit() or sign == "=" for sign in value)
    if is_word and (match["next"] is None or value.lower() in _ORDINARY or value[:1] in "<$*{"):
        return match[0]
    return f"{match['name']}{HIDDEN}"


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]:
    """Made when first needed, which takes 5 ms. Each needs something that `_may_have_one` finds."""
    quote, hidden = "[\"']?", re.escape(HIDDEN)
    value = rf"(?!{hidden})(?=[^\s\"'&]{{0,400}}[0-9=])[^\s\"',}}&]{{6,}}"
    header = rf"(?P<name>(?:{_HEADERS}|(?:set-)?cookie){quote}\s{{0,4}}[:=]\s{{0,4}}{quote})"
    field = rf"(?<![\w])(?:{_FIELDS}|{_PARAMETERS})=[\"']?"
    value_of_field = rf"(?!{hidden})(?=[^\s\"'&;]{{0,400}}[0-9=])[^\s\"',}}&;]{{6,}}"
    pair = r"[^\s;=\"']{1,100}=[^\s;\"']*"
    cookies = rf"(?<![\w-])(cookie{quote}\s{{0,4}}:\s{{0,4}}{quote}){pair}(?:;\s?{pair})*"
    fields_of_header = r"\b(authorization: )(?:digest|oauth|signature|aws4-hmac-sha256)\s(?=[^\n]{0,2000}=)[^\n]*"
    value_of_header = (
        rf"\b{header}(?:[a-z]{{1,20}}\s{{1,4}})?(?P<value>[^\s\"',}}]{{6,}})(?P<next>(?=[\"',}}\r\n]|\Z))?"
    )
    verbose = re.VERBOSE | re.ASCII
    return (
        (re.compile(_ADDRESS, verbose), _without_user),
        (re.compile(r"(?i)(%3a%2f%2f)((?:[^\s/?&#%]|%(?!2f|3f|23|40)[0-9a-f]{2})*)%40"), _without_escaped_user),
        (re.compile(_HOOK, verbose), _without_hook),
        (
            re.compile(rf"(?i)([?&;#](?:{_PARAMETERS}|password|passwd|pwd|key|auth|session)=)[^\s&;#\"'<>]+"),
            rf"\1{HIDDEN}",
        ),
        (re.compile(r"(?i)([?&;#]code=)[^\s&;#\"'<>]{8,}"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?i){cookies}"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?i){fields_of_header}"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?i){value_of_header}"), _without_header),
        (re.compile(rf"(?i)({field}){value_of_field}"), rf"\1{HIDDEN}"),
        (re.compile(rf"(?i)\b((?:bearer|basic)\s{{1,4}}){value}"), rf"\1{HIDDEN}"),
        (re.compile(_KEY, verbose), HIDDEN),
    )
