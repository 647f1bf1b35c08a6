"""Sizes and times in words, and back."""

import re

from sightline.exceptions import UserMistake

_UNITS = ("B", "KB", "MB", "GB")
_SIZES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_TIMES = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}

_size = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmgt]?)i?b?", re.IGNORECASE).fullmatch
_time = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([smhdw])", re.IGNORECASE).fullmatch


def size_words(size: float) -> str:
    if size < 1024:
        return f"{size:.0f} B"
    power = 1 if size < 999.5 * 1024 else 2 if size < 999.5 * 1024**2 else 3
    size /= 1024**power
    return f"{size:.{1 if size < 9.95 else 0}f} {_UNITS[power]}"


def duration_words(seconds: float) -> str:
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} days"


def wait_words(seconds: float) -> str:
    """`3 s`, `0.9 s`; from a minute on as any duration."""
    return f"{round(seconds, 1):g} s" if seconds < 60 else duration_words(seconds)


def parse_size(text: str) -> int:
    match = _size(text.strip())
    if match is None:
        raise UserMistake(f"not a size: {text}", "write a number and K, M, G or T, such as 1G")
    return int(float(match[1]) * _SIZES[match[2].lower()])


def parse_age(text: str) -> float:
    match = _time(text.strip())
    if match is None:
        raise UserMistake(f"not an age: {text}", "write a number and s, m, h, d or w, such as 7d")
    return float(match[1]) * _TIMES[match[2].lower()]
