"""Bytes as text: the character set a page declares is believed as far as its bytes agree."""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})"""
    rb"""|<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
_LOOKED_AT = 2048
# Character sets of pages. Others that Python knows are no such thing, and some are slow on purpose-made bytes.
_KNOWN = (
    {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030"}
    | {"big5", "big5hkscs", "shift_jis", "cp932", "euc_jp", "iso2022_jp", "euc_kr", "cp949", "cp866", "cp874"}
    | {"tis-620", "mac-roman"}
    | {f"cp125{number}" for number in range(9)}
    | {f"iso8859-{number}" for number in range(1, 17)}
)
# What calls itself one of these is, on the web, the larger set.
_WIDER = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_NOT_LIKE_UTF8 = ("utf-16", "utf-32", "iso2022")  # or too much like it


def text_of(body: bytes, charset: str) -> tuple[str, str]:
    """The text, and a note when some of it could not be read. `charset` is the server's, perhaps empty."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return _noted(body[len(mark) :].decode(name, "replace"))
    declared = _known(charset) or _known(_in_page(body))
    if declared.startswith(_NOT_LIKE_UTF8):
        return _noted(body.decode(declared, "replace"))
    try:
        return body.decode("utf-8"), ""  # no other set of characters makes valid UTF-8 by chance
    except UnicodeDecodeError:
        pass
    if declared not in ("", "utf-8"):
        return _noted(body.decode(_WIDER.get(declared, declared), "replace"))
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    if broken <= foreign - broken or broken == _broken_end(body):
        return _noted(text)
    return _noted(body.decode("cp1252", "replace"))


def _broken_end(body: bytes) -> int:
    """1 when all that is wrong is a character cut in half at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return 0
    return 1


def _in_page(body: bytes) -> str:
    found = _DECLARED.search(body, 0, _LOOKED_AT)
    return (found[1] or found[2]).decode() if found else ""


def _known(name: str) -> str:
    """As Python calls it; empty when it is none of a page."""
    try:
        found = codecs.lookup(name.strip()).name if name.isascii() and name.strip() else ""
    except (LookupError, ValueError):
        return ""
    return found if found in _KNOWN else ""


def _noted(text: str) -> tuple[str, str]:
    return text, "some bytes are not text and are shown as \ufffd" if "\ufffd" in text else ""
