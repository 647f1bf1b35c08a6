"""No module of this program comes from the folder it works in: a sandboxed command can write there.

`python -m sightline` and a PYTHONPATH put that folder, or one in it, before the standard library. What is imported
after `import_nothing_from_it` is not taken from there.

What Python imports before our first line is out of our hands: `encodings`, `sitecustomize`, `usercustomize`, this
package, and bytecode from PYTHONPYCACHEPREFIX. `places_imported_from` names these, so that no sandboxed command can put
something there that the next start would run.
"""

import os
import sys

_CUSTOMIZING = ("sitecustomize", "usercustomize")
_ALWAYS = ("encodings", "sightline", *_CUSTOMIZING)
_FROM_ITSELF = ("built-in", "frozen")  # where Python has a module that no folder can bring
_SUFFIXES = (".py", ".pyc", ".so", ".abi3.so")  # and that of this very interpreter

_MODULES_AT_MOST = 16
_LIBRARIES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT")
_LATER = "SIGHTLINE_LATER_"  # prefix of a variable that is for commands, not for the process that forwards it

_first_modules: tuple[str, ...] = ()  # what was imported before us


def import_nothing_from_it() -> None:
    """Remove the working folder from `sys.path`; our installation stays: it is read-only to commands."""
    global _first_modules
    _restore_environment()
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        return
    _first_modules = tuple(_names_of_modules()[:_MODULES_AT_MOST])
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    stays = (os.path.abspath(sys.prefix), os.path.abspath(sys.base_prefix))
    sys.path[:] = [
        entry
        for entry in sys.path
        if not _is_in(os.path.abspath(entry), folder)
        or os.path.abspath(entry) == package
        or any(_is_in(os.path.abspath(entry), each) for each in stays)
    ]
    if sys.pycache_prefix and _is_in(os.path.abspath(sys.pycache_prefix), folder):
        sys.pycache_prefix = None


def places_imported_from() -> list[str]:
    """Absolute paths, in PYTHONPATH's folders and elsewhere, where Python looks for modules before our first line,
    existing or not. Held as folders where missing: a folder of such a name is passed over by Python."""
    prefix = os.environ.get("PYTHONPYCACHEPREFIX")
    places = [os.path.abspath(prefix)] if prefix else []
    named = os.environ.get("PYTHONPATH", "")
    folders = [os.path.abspath(entry) for entry in named.split(os.pathsep)] if named else []
    names = dict.fromkeys((*_ALWAYS, *_first_modules))
    for folder in dict.fromkeys(folders):
        if os.path.isfile(folder):  # an archive
            places.append(folder)
            continue
        places += [os.path.join(folder, name + suffix) for name in names for suffix in ("", *_suffixes())]
    return places + _of_the_user()


def python_words(module: str) -> list[str]:
    """The first words of a command line that runs a module of ours in a new process, which imports from where this one
    does, whatever PYTHON… variables there are."""
    named = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if not any(os.path.abspath(entry) in named for entry in sys.path):
        return [sys.executable, "-E", "-P", "-m", module]
    code = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy._run_module_as_main({module!r})"
    return [sys.executable, "-E", "-P", "-c", code]


def environment_for_python(folder: str = "") -> dict[str, str]:
    """The environment of a process of ours that runs commands in a folder: libraries there are for those alone."""
    try:
        environment, folder = dict(os.environ), os.path.realpath(folder)
    except FileNotFoundError:  # the folder we are in is gone, and no library is in it
        return dict(os.environ)
    for name in _LIBRARIES:
        entries = environment.get(name, "").replace(" ", ":").split(":") if name in environment else []
        outside = [each for each in entries if os.path.isabs(each) and not _is_in(os.path.realpath(each), folder)]
        if len(outside) < len(entries):
            environment[_LATER + name] = environment.pop(name)
            environment |= {name: ":".join(outside)} if outside else {}
    return environment


def _restore_environment() -> None:
    for name in [name for name in os.environ if name.startswith(_LATER)]:
        os.environ[name.removeprefix(_LATER)] = os.environ.pop(name)


def _of_the_user() -> list[str]:
    """The folder of packages below PYTHONUSERBASE, whose `.pth` files are run."""
    if not os.environ.get("PYTHONUSERBASE"):
        return []
    import site

    return [site.getusersitepackages()] if site.ENABLE_USER_SITE else []


def _names_of_modules() -> list[str]:
    """Top-level modules that a folder could have brought."""
    found = []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if "." not in name and name != "__main__" and spec is not None and spec.origin not in _FROM_ITSELF:
            found.append(name)
    return found


def _suffixes() -> tuple[str, ...]:
    import _imp

    return tuple(dict.fromkeys((*_SUFFIXES, *_imp.extension_suffixes())))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
