"""Public names of a package that are loaded on first use, so that a program pays only for what it needs.

A package lists them once, for the type checker and for us, one `from … import Name as Name` a line in the block
`if TYPE_CHECKING:`. That block is read when the first name is used.
"""

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def later(package: str, file: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """The `__getattr__` and `__dir__` of a package whose `__init__` is `file`."""
    modules: dict[str, tuple[str, str]] = {}

    def known() -> "dict[str, tuple[str, str]]":
        if not modules:
            with open(file, encoding="utf-8") as source:
                for line in source:
                    words = line.partition("#")[0].split()  # from MODULE import NAME as NAME
                    if words[:1] == ["from"] and words[-2] == "as":
                        modules[words[-1]] = words[1], words[-3]
        return modules

    def load(name: str) -> "Any":
        if name == "__all__":
            return names()
        place = None if name.startswith("__") else known().get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(place[0]), place[1])

    def names() -> "list[str]":
        return sorted(known())

    return load, names
