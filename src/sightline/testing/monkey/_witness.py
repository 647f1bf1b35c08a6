"""What a program writes to a terminal, read strictly: everything the console has a reason to write, and nothing else.

- Text is UTF-8 and holds no control but carriage return and line feed, no C1, and nothing that turns the direction of
  writing.
- Sequences are known one by one, with their parameters. A title, a link, a notice and the clipboard are ours to set:
  what they say is bounded and clean, and a link goes to the web, to mail or to a file.
- What is switched on is remembered. `left_on` says what a terminal would still be in when the program is gone.

It shares nothing with the engine it watches.
"""

import base64
import codecs
import re

_STRING = r"[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_TOKEN = re.compile(
    rf"""
    (?P<text>[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+|[\r\n])
    | \x1b\[ (?P<sgr>[0-9;:]{{0,64}}) m
    | \x1b\[ (?P<move>[0-9]{{0,4}}[ABCGKLM]|J|2J\x1b\[H\x1b\[3J)
    | \x1b\[ \? (?P<mode>25|7|2004|2026|2031|2048) (?P<on>[hl])
    | \x1b\[ (?P<keyboard>>7u|=7;1u|<u|>4;2m|>4;0m)
    | \x1b\[ (?P<region>1;2r|r)
    | \x1b\[ (?P<names>22;2t|23;2t)
    | (?P<cursor>\x1b[78])
    | (?P<question>\x1b\[\?u|\x1b\[c|\x1b\[\?(?:2026|2048|2031)\$p|\x1b\[16t|\x1b\[\?996n|\x1b\]11;\?\x1b\\
        |\x1b\]99;i=sightline:p=\?;\x1b\\|\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\)
    | \x1b\]2; (?P<title>{_STRING}{{0,300}}) \x1b\\
    | \x1b\]8;; (?P<link>(?:(?:https?://|mailto:|file://)[!-~]{{1,2000}})?) \x1b\\
    | \x1b\]52;c; (?P<clipboard>[A-Za-z0-9+/]*={{0,2}}) \x07
    | \x1b\] (?P<notice>(?:99;i=sightline:[dp]=[01a-z]+;|777;notify;|9;){_STRING}{{0,600}}) \x1b\\
    | (?P<bell>\x07) | (?P<cancel>\x18)
    """,
    re.VERBOSE,
)
_CLEAR = "\x1b[2J\x1b[H\x1b[3J"
_HALF = re.compile(r"\x1b(?:\[[^@-~]{0,80}|[]_P][^\x07\x1b]*\x1b?)?\Z")
_LONGEST_TAIL = 200_000
_MODES = {"25": "cursor hidden", "7": "no wrapping", "2004": "bracketed paste", "2026": "synchronized output"}


class Stray(Exception):
    """Something was written that should not be."""


class Witness:
    """Feed it all bytes, in order. Raises `Stray` at what must not be there."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.copied: list[str] = []
        self.links: set[str] = set()
        self.notices: list[str] = []
        self.text = ""
        """The last words, to look for a traceback in."""
        self._on: set[str] = set()
        self._keyboards = self._names = 0
        self._decode = codecs.getincrementaldecoder("utf-8")("strict").decode
        self._tail = ""

    @property
    def left_on(self) -> list[str]:
        """What is not as it was before the program began."""
        stacked = ["keyboard protocol"] * self._keyboards + ["title on the stack"] * self._names
        return [*sorted(self._on), *stacked, *(["half a sequence"] if self._tail else [])]

    @property
    def title(self) -> str:
        return self.titles[-1] if self.titles else ""

    def feed(self, data: bytes) -> None:
        try:
            text = self._tail + self._decode(data)
        except UnicodeDecodeError as error:
            raise Stray(f"no UTF-8: {data[max(0, error.start - 40) : error.start + 40]!r}") from None
        at, self._tail = 0, ""
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                if len(text) - at < _LONGEST_TAIL and (_HALF.match(text, at) or _CLEAR.startswith(text[at:])):
                    self._tail = text[at:]
                    return
                raise Stray(f"{text[at : at + 60]!r} after {text[max(0, at - 60) : at]!r}")
            self._seen(token)
            at = token.end()

    def _seen(self, token: "re.Match[str]") -> None:
        kind, value = token.lastgroup, token[token.lastgroup] if token.lastgroup else ""
        match kind:
            case "text":
                self.text = (self.text + value)[-20_000:]
            case "on":
                self._switched(token["mode"], on=value == "h")
            case "keyboard":
                self._keyboard(value)
            case "region":
                self._turn("scroll region", on=value != "r")
            case "names":
                self._names += 1 if value.startswith("22") else -1
            case "title":
                self.titles.append(value)
            case "link":
                self._turn("link", on=bool(value))
                self.links |= {value} - {""}
            case "clipboard":
                self.copied.append(base64.b64decode(value, validate=True).decode())
            case "notice":
                self.notices.append(value)
            case "sgr":
                self._turn("style", on=value not in ("", "0"))

    def _switched(self, mode: str, *, on: bool) -> None:
        off_by_default = mode not in ("25", "7")
        self._turn(_MODES.get(mode, f"mode {mode}"), on=on == off_by_default)

    def _keyboard(self, value: str) -> None:
        if value.startswith(">4"):
            self._turn("other keys", on=value == ">4;2m")
        elif value in (">7u", "<u"):
            self._keyboards += 1 if value == ">7u" else -1

    def _turn(self, name: str, *, on: bool) -> None:
        (self._on.add if on else self._on.discard)(name)
