"""Runs the corpus and prints a table: `python -m sightline.testing.attack [--point N] [--only TEXT]`."""

import argparse
import os
import pwd
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sightline.testing.attack._corpus import SANDBOXES, USERS, Attack, Sandbox, corpus
from sightline.testing.attack._installation import CannotInstall, install
from sightline.testing.attack._lab import Account, Lab

_AT_ONCE = 3
_POINTS = {
    1: "trusted base",
    2: "protected set",
    3: "handles",
    4: "side channels",
    5: "rules",
    6: "approvals",
    7: "secrets",
    8: "network",
    9: "page",
    10: "the rest",
}


class Trial(msgspec.Struct, frozen=True):
    """One form in one configuration. `got` is what the attacker had of it."""

    attack: Attack
    account: Account
    sandbox: Sandbox
    got: str = ""

    @property
    def title(self) -> str:
        form = f" [{self.attack.form}]" if self.attack.form else ""
        return f"{self.attack.point}. {self.attack.name}{form} ({self.account.name}, {self.sandbox})"


def main() -> int:
    options = _options()
    attacks = [each for each in corpus() if _is_chosen(each, options)]
    with _folder() as folder:
        try:
            program = Path(options.sightline).absolute() if options.sightline else install(folder)
        except CannotInstall as problem:
            print(f"the program cannot be installed for other users: {problem}", file=sys.stderr)
            return 2
        paths = _search_paths(folder)
        trials = [
            Trial(each, account, sandbox)
            for each in attacks
            for account in _accounts(options.user)
            for sandbox in paths
            if account.name in each.users and sandbox in each.sandboxes and options.sandbox in ("", sandbox)
        ]
        began = time.monotonic()
        done = _tried(trials, folder, program, paths)
    _print_table(done, time.monotonic() - began)
    return 1 if not done or any(trial.got for trial in done) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="attack", description="Attacks on the installed program; none may work.")
    parser.add_argument("--point", type=int, default=0, help="attacks on this point of the threat model only")
    parser.add_argument("--only", default="", metavar="TEXT", help="attacks whose name or form contains this")
    parser.add_argument("--user", choices=USERS, default="", help="as this kind of user only")
    parser.add_argument("--sandbox", choices=SANDBOXES, default="", help="with this sandbox only")
    parser.add_argument("--sightline", default="", metavar="PATH", help="the program to attack, instead of this source")
    return parser.parse_args()


def _is_chosen(each: Attack, options: argparse.Namespace) -> bool:
    return options.point in (0, each.point) and options.only in f"{each.name} {each.form}"


def _accounts(name: str) -> list[Account]:
    """Root and an ordinary user where we may be both, else who we are."""
    mine = os.geteuid()
    if mine:
        found = [Account("user", mine, os.getegid())]
    else:
        nobody = pwd.getpwnam("nobody")
        found = [Account("root", 0, 0), Account("user", nobody.pw_uid, nobody.pw_gid)]
    return [each for each in found if name in ("", each.name)]


@contextmanager
def _folder() -> Iterator[Path]:
    """Not in /tmp where that can be had: a sandbox may have a /tmp of its own."""
    above = next((each for each in ("/home", "/srv") if os.access(each, os.W_OK)), None)
    with tempfile.TemporaryDirectory(prefix="sightline-attack-", dir=above, ignore_cleanup_errors=True) as name:
        os.chmod(name, 0o755)
        yield Path(name)


def _search_paths(folder: Path) -> dict[Sandbox, str]:
    """A PATH for each sandbox: without bubblewrap, the program has Landlock."""
    usual = [each for each in ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin") if os.path.isdir(each)]
    without = folder / "bin"
    without.mkdir()
    for place in usual:
        for entry in os.scandir(place):
            if entry.name != "bwrap" and not os.path.lexists(without / entry.name):
                (without / entry.name).symlink_to(entry.path)
    paths: dict[Sandbox, str] = {"landlock": str(without)}
    if any(os.path.exists(f"{place}/bwrap") for place in usual):
        paths = {"bubblewrap": ":".join(usual), **paths}
    return paths


def _tried(trials: list[Trial], folder: Path, program: Path, paths: dict[Sandbox, str]) -> list[Trial]:
    done: list[Trial] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for trial in pool.map(lambda each: _try(each, folder, program, paths[each.sandbox]), trials):
            done.append(trial)
            if trial.got:
                print(f"WORKED: {trial.title}\n    {trial.got}", flush=True)
            if len(done) % 100 == 0:
                print(f"{len(done)} of {len(trials)}", flush=True)
    return done


def _try(trial: Trial, folder: Path, program: Path, search_path: str) -> Trial:
    place = Path(tempfile.mkdtemp(prefix="lab-", dir=folder))
    place.chmod(0o755)
    lab = Lab(place, program, trial.account, trial.sandbox, search_path)
    try:
        got = trial.attack.attempt(lab, trial.attack.form)
    except Exception:
        got = f"the attack could not be tried: {traceback.format_exc(limit=3)}"
    finally:
        lab.close()
        shutil.rmtree(place, ignore_errors=True)
    return msgspec.structs.replace(trial, got=got)


def _print_table(done: list[Trial], seconds: float) -> None:
    columns = sorted({(trial.account.name, trial.sandbox) for trial in done})
    print(f"\n| point | forms | {' | '.join(f'{user}, {sandbox}' for user, sandbox in columns)} | worked |")
    print(f"| --- | --- |{' --- |' * (len(columns) + 1)}")
    for point in sorted({trial.attack.point for trial in done}):
        here = [trial for trial in done if trial.attack.point == point]
        counts = Counter((trial.account.name, trial.sandbox) for trial in here)
        forms = len({(trial.attack.name, trial.attack.form) for trial in here})
        row = " | ".join(str(counts[column]) for column in columns)
        worked = sum(bool(trial.got) for trial in here)
        print(f"| {point} {_POINTS.get(point, '')} | {forms} | {row} | {worked} |")
    forms = len({(trial.attack.name, trial.attack.form) for trial in done})
    worked = sum(bool(trial.got) for trial in done)
    print(f"\n{forms} forms, tried {len(done)} times in {seconds:.0f} s")
    print(f"{len(done) - worked} passed, {worked} failed")


if __name__ == "__main__":
    sys.exit(main())
