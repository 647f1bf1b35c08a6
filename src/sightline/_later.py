"""Names of a package that are loaded when they are first asked for: what needs little of it loads little."""

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def later(package: str, modules: "dict[str, str]") -> "Callable[[str], Any]":
    """The `__getattr__` of a module: which of the package's modules has which name."""

    def load(name: str) -> "Any":
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{package}.{module}"), name)

    return load
