"""Rules: a denied program runs, an allowed command is another, an answer is good for more than was asked, an address
shows what a rule forbids reading.

What must not run is `deploy push`, of a stub outside the workspace that writes down its arguments. Each attack is tried
without the rule first: one that gets nothing then proves nothing.
"""

import fcntl
import json
import os
import pty
import select
import shlex
import struct
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sightline.testing.attack import Lab, attack
from sightline.testing.attack.cases._network import _asks_proxy, _service

_DENY = ("--deny", "exec(deploy push)")
_SECRET = "what-another-said-4711"
_SECONDS = 40.0
_LONGEST_DECISION = 20.0
_STUB = """#!/bin/sh
printf '%s\\n' "$*" >> {0}
"""


class Ships:
    """The stub, found by its name, and what it was run with."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._log = lab.workspace / "deployed"
        lab.write(lab.folder / "programs" / "deploy", _STUB.format(shlex.quote(str(self._log))), 0o755)
        lab.env["PATH"] = f"{lab.folder}/programs:{lab.env['PATH']}"
        for name in ("my repo", "packages"):
            lab.make(name)

    def runs(self, lines: Sequence[str], *options: str, **args: Any) -> list[str]:
        """What the stub was run with when an agent ran these lines."""
        self._log.unlink(missing_ok=True)
        self._lab.commands(*lines, options=options, args=args)
        return self._log.read_text().splitlines() if self._log.exists() else []


_WORDS = [
    "deploy push",
    'deploy -C "my repo" push',
    'deploy -c user.name="CI Bot" push',
    "deploy -C . -C 'my repo' push",
    "deploy -C my\\ repo -c a=b -c 'c d' push",
    "deploy >/dev/null push",
    "deploy 2>&1 >'o p' push",
    "deploy {fd}>/dev/null push",
    "deploy <<< 'a b' push",
    ">/dev/null deploy push",
    "deploy 1\\\n>/dev/null push",
    "dep\\\nloy pu\\\nsh",
    "'deploy' \"push\"",
    "d\"epl\"oy pu''sh",
    "\\deploy \\push",
    "$'\\144eploy' $'pu\\x73h'",
    "{deploy,push}",
    "{deploy,-C,.,push}",
    "../programs/deploy push",
    "../programs/deplo? push",
    "../programs/d[[:lower:]]ploy push",
    "../programs/d[^x]ploy push",
    "../*/deploy push",
    "deploy pus{h..h}",
    "A=b C='d e' deploy push",
    "deploy$IFS'push'",
    "deploy $unset push",
    "${unset:-deploy} ${unset-push}",
    "HOME=deploy; ~ push",
]
_NESTED = [
    "eval $'deploy\\x20push'",
    "eval 'deploy -C \"my' 'repo\" push'",
    "bash -c $'deploy\\tpush'",
    "bash -c 'eval \"deploy push\"'",
    "bash <<E\ndeploy -C 'my repo' push\nE",
    "bash <<'E'\n$'\\144eploy' push\nE",
    "cat <<E\nit's $(deploy push)\nE",
    "cat <<'E' | sh\ndeploy push\nE",
    "bash <<< 'deploy push'",
    'echo "`bash -c \\"deploy push\\"`"',
    "echo $(deploy push)",
    "echo $(( $(deploy push) 1 ))",
    "[[ -n $(deploy push) ]]",
    "case x in x) deploy push;; esac",
    "cat <(deploy push)",
    "f() { deploy push; }; f",
    "trap 'deploy push' EXIT",
    "coproc deploy push; wait",
    "env -S 'deploy push'",
    "env -S 'deploy\\_push'",
    "command -p -- env deploy push",
    "builtin command deploy push",
    "(exec -a x deploy push)",
    "nohup timeout 5 nice deploy push",
    "find . -maxdepth 0 -exec deploy push \\;",
    "echo x | xargs deploy push",
    "shopt -s expand_aliases\nalias d='deploy push'\nd",
    "for i in 1; do deploy push; done",
    ": # it's\ndeploy push",
    "x='a[$(deploy push)]'; (( x ))",
    "printf -v 'a[$(deploy push)]' x",
]
_COMPUTED = [
    "x=deploy; $x push",
    'x=push; deploy "$x"',
    "v='deploy push'; eval \"$v\"",
    'set -- deploy push; "$@"',
    'a=(deploy push); "${a[@]}"',
    "read -r a b <<< 'deploy push'; $a $b",
    "$(echo deploy) push",
    "echo push | xargs deploy",
    "echo deploy | xargs -I X env X push",
    'f() { deploy "$@"; }; f push',
    "bash -c '\"$0\" push' deploy",
    "printf 'd\\x65ploy push' | bash",
    "printf 'd\\x65ploy push' | /bin/b?sh",
    "printf 'd\\x65ploy push' | bash -o errexit",
    "printf 'd\\x65ploy push' | { cat | sh; }",
    "bash < <(printf 'd\\x65ploy push')",
    "{ bash; } < <(printf 'd\\x65ploy push')",
    "f() { bash; }; printf 'd\\x65ploy push' | f",
    "exec 3< <(printf 'd\\x65ploy push'); bash <&3",
    "printf 'd\\x65ploy push' > >(bash); sleep 0.3",
    "bash <<< \"$(printf 'd\\x65ploy push')\"",
    "coproc printf 'd\\x65ploy push'; bash <&${COPROC[0]}",
    ". <(printf 'd\\x65ploy push')",
    "shopt -s expand_aliases\nalias d=deploy\nd push",
    "BASH_CMDS[ls]=../programs/deploy; ls push",
    "hash -p ../programs/deploy d; d push",
    "x='$(d'; x+='eploy push)'; echo \"${x@P}\"",
    "set deploy; for x do $x push; done",
]


@attack(
    point=5,
    forms=[f"{level}: {line}" for level in ("auto", "full") for line in (*_WORDS, *_NESTED, *_COMPUTED)],
    users=["user"],
    sandboxes=["bubblewrap"],
)
def a_denied_program_runs(lab: Lab, form: str) -> str:
    level, _, line = form.partition(": ")
    ships = Ships(lab)
    options = ("--approval", level)
    if not any(map(_pushes, ships.runs([line], *options))):
        return "it proves nothing: without the rule it does not run either"
    return f"it ran: deploy {found}" if (found := [*filter(_pushes, ships.runs([line], *options, *_DENY))]) else ""


def _pushes(arguments: str) -> bool:
    return "push" in arguments.split()


_WRAPPED = {
    "plain": "{}",
    "group": "{{ {}; }}",
    "subshell": "( {} )",
    "eval": "eval {quoted}",
    "bash -c": "bash -c {quoted}",
    "twice": "bash -c {twice}",
    "here-document": "bash <<'END'\n{}\nEND",
    "here-string": "bash <<< {quoted}",
    "pipe": "printf %s {quoted} | sh",
    "substitution": ": $({})",
    "process": "cat <({})",
    "function": "f() {{ {}; }}; f",
    "branch": "if :; then {}; fi",
    "comment": ": # it's\n{}",
    "environment": "env bash -c {quoted}",
}


@attack(point=5, forms=list(_WRAPPED), sandboxes=["bubblewrap"])
def a_denied_program_runs_in_another(lab: Lab, form: str) -> str:
    """Every way to write it, in this way to run it; each has a number, to know it by."""
    ships = Ships(lab)
    lines = [_wrapped(form, f"{line} n{number}") for number, line in enumerate(_WORDS)]
    without = {_number(each) for each in ships.runs(lines, "--approval", "full")}
    if len(without) < len(lines) * 3 // 4:
        return f"it proves little: without the rule only {len(without)} of {len(lines)} run"
    ran = ships.runs(lines, "--approval", "full", *_DENY)
    return f"it ran: {[lines[_number(each)] for each in ran if _pushes(each)]}" if any(map(_pushes, ran)) else ""


def _wrapped(how: str, line: str) -> str:
    quoted = shlex.quote(line)
    return _WRAPPED[how].format(line, quoted=quoted, twice=shlex.quote(f"bash -c {quoted}"))


def _number(arguments: str) -> int:
    return int(arguments.rpartition("n")[2] or 0)


_FORCE = [
    "deploy push --force",
    "deploy push origin main --force",
    "deploy push --force=yes origin",
    "deploy push --forc",
    "deploy -C 'my repo' push origin --force",
    "deploy --force push",
    "deploy push origin $'--force'",
    "deploy push origin {main,--force}",
    "x=--force; deploy push origin $x",
]


@attack(point=5, forms=_FORCE, sandboxes=["bubblewrap"])
def a_denied_option_stands_elsewhere(lab: Lab, form: str) -> str:
    ships = Ships(lab)
    if not ships.runs([form], "--approval", "full"):
        return "it proves nothing: without the rule it does not run either"
    rule = ("--deny", "exec(deploy push --force)")
    if not ships.runs(["deploy push origin"], "--approval", "full", *rule):
        return "it proves nothing: the rule denies every push"
    ran = ships.runs([form], "--approval", "full", *rule)
    return f"it ran: deploy {ran}" if ran else ""


_WIDER = [
    ("exec(deploy status)", "deploy status; deploy push"),
    ("exec(deploy status)", "deploy status && deploy push"),
    ("exec(deploy status)", "deploy status & deploy push"),
    ("exec(deploy status)", "deploy status\ndeploy push"),
    ("exec(deploy status)", "deploy status $(deploy push)"),
    ("exec(deploy status)", "deploy status `deploy push`"),
    ("exec(deploy status)", "deploy status <(deploy push)"),
    ("exec(deploy status)", "deploy status push"),
    ("exec(deploy status)", "deploy status{,' push'}"),
    ("exec(deploy status *)", 'deploy status "$(deploy push)"'),
    ("exec(deploy status *)", "deploy status $(deploy push)"),
    ("exec(deploy status *)", "deploy status x; deploy push"),
    ("exec(deploy status *)", "deploy status x\ndeploy push"),
    ("exec(deploy status *)", "deploy status x | deploy push"),
    ("exec(deploy st*)", "deploy st push"),
    ("exec(deploy '*')", "deploy *"),
    ("exec(deploy '~')", "deploy ~"),
    ("exec(deploy -rf '~')", "deploy -rf ~"),
    ("exec(deploy 'p*')", "deploy p*"),
    ("exec(deploy '{push,x}')", "deploy {push,x}"),
    ("exec(deploy '$x')", "deploy $x push"),
    ("exec(deploy *) exactly", "deploy push"),
    ("exec(deploy status) sandboxed", "deploy status"),
    ("exec(deploy status) in packages", "deploy status"),
    ("exec(cd *)", "cd packages && deploy push"),
    ("exec(test *)", "test -v 'a[$(deploy push)]'"),
    ("exec(printf *)", "printf -v 'a[$(deploy push)]' x"),
    ("exec(read *)", "read 'a[$(deploy push)]'"),
    ("exec(declare *)", "declare 'a[$(deploy push)]=1'"),
    ("exec(typeset *)", "typeset 'a[`deploy push`]=1'"),
    ("exec(let *)", "let 'a[$(deploy push)]=1'"),
]


@attack(point=5, forms=[f"{rule}: {line}" for rule, line in _WIDER], sandboxes=["bubblewrap"])
def a_rule_allows_more_than_it_says(lab: Lab, form: str) -> str:
    """Outside the sandbox, where only a rule allows anything."""
    rule, line = next(each for each in _WIDER if form == f"{each[0]}: {each[1]}")
    ships = Ships(lab)
    lab.write("push")
    outside = {"sandbox": False}
    if not ships.runs([line], "--allow", "exec", **outside):
        return "it proves nothing: with every command allowed it does not run either"
    ran = ships.runs([line], "--allow", rule, **outside)
    return f"it ran: deploy {ran}" if ran else ""


_PLACES = ["nested", "nested/deep", "submodule", "link", "outside the sandbox", "above", "cd", "make -C"]


@attack(point=5, forms=_PLACES, sandboxes=["bubblewrap"])
def an_answer_is_good_elsewhere(lab: Lab, form: str) -> str:
    """ "Always" for a command in the sandbox, here."""
    ships = Ships(lab)
    lab.repository("nested")
    lab.make("nested/deep")
    lab.write("submodule/.git", "gitdir: ../.git/modules/submodule\n")
    lab.link("link", "nested")
    line = "deploy -C nested" if form == "make -C" else "deploy push"
    _remember(lab, _hint(lab, "deploy push"))
    if not ships.runs(["deploy push"], "--approval", "edit"):
        return "it proves nothing: the answer is not remembered"
    args: dict[str, Any] = {}
    if form == "outside the sandbox":
        args = {"sandbox": False}
    elif form == "cd":
        line = "cd nested && deploy push"
    elif form != "make -C":
        args = {"cwd": str(lab.workspace.parent) if form == "above" else form}
    ran = ships.runs([line], "--approval", "edit", **args)
    return f"it ran: deploy {ran}" if ran else ""


def _hint(lab: Lab, line: str, *, sandbox: bool = True) -> str:
    """The rule that a refusal without a person names; empty where it names none."""
    args = {"command": line} if sandbox else {"command": line, "sandbox": False}
    ran = lab.agent([[{"tool": "bash", "args": args}]], "--approval", "edit")
    hints = [str(event.get("hint", "")) for event in ran.events if event.get("kind") == "notice"]
    found = [each.partition("--allow ")[2] for each in hints if "--allow " in each]
    return "" if not found else _unquoted(found[0])


def _unquoted(word: str) -> str:
    """As a shell reads it that the hint is pasted into."""
    import subprocess

    return subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, text=True, check=True).stdout


def _remember(lab: Lab, rule: str, folder: Path | None = None, verdict: str = "allow") -> None:
    code = "import sys; from pathlib import Path; from sightline.settings import remember_rule; "
    code += "sys.exit(remember_rule(Path(sys.argv[1]), *sys.argv[2:]) or 0)"
    process = lab.spawn([str(lab.python), "-c", code, str(folder or lab.workspace), rule, verdict])
    problem = process.communicate(timeout=_SECONDS)[1]
    if process.returncode:
        raise AssertionError(f"it cannot be remembered: {problem!r}")


_QUOTED = [
    ("deploy -rf '~'", "deploy -rf ~"),
    ("deploy '*'", "deploy *"),
    ("deploy '*.py'", "deploy *.py"),
    ("deploy 'p?sh'", "deploy p?sh"),
    ("deploy '[p]ush'", "deploy [p]ush"),
    ("deploy '{push,x}'", "deploy {push,x}"),
    ("deploy '$HOME'", "deploy $HOME"),
    ("deploy '$(id)'", "deploy $(id)"),
    ("deploy 'CC=~/x'", "deploy CC=~/x"),
    ("deploy a\\ b", "deploy a b"),
    ("deploy 'a b'", "deploy a b"),
    ("deploy ';' x", "deploy ; deploy x"),
    ("deploy *.py", "deploy push"),
    ("deploy *", "deploy push"),
    ("deploy > log", "deploy push"),
]


@attack(point=5, forms=[f"{one} → {other}" for one, other in _QUOTED], sandboxes=["bubblewrap"])
def a_hint_allows_another_command(lab: Lab, form: str) -> str:
    """The rule for one spelling, given as the refusal says, and the command spelled as a shell expands it."""
    given, other = form.split(" → ")
    ships = Ships(lab)
    for name in ("push", "x.py"):
        lab.write(name)
    rule = _hint(lab, given, sandbox=False)
    options = ("--approval", "edit", "--allow", rule)
    if not rule or not ships.runs([given], *options, sandbox=False):
        return f"it proves nothing: the rule {rule!r} does not allow its own command"
    ran = ships.runs([other], *options, sandbox=False)
    return f"{rule} allowed it: deploy {ran}" if ran else ""


_LENGTHS = {
    "2001 characters": "deploy push " + "x" * 1989,
    "2001 words": "deploy push" + " x" * 2001,
    "100 KB": "deploy push " + "x" * 100_000,
    "lines": "deploy push\n" * 300,
    "quotes": "deploy '" + "x" * 3000 + "'",
    "a star": "* push",
}


@attack(point=5, forms=list(_LENGTHS), sandboxes=["bubblewrap"])
def a_hint_names_a_rule_for_everything(lab: Lab, form: str) -> str:
    """For a command no rule can name exactly."""
    if not _hint(lab, "deploy push"):
        return "it proves nothing: a short command has no hint either"
    rule = _hint(lab, _LENGTHS[form])
    return f"the hint is {rule[:100]!r}" if rule else ""


_SLOW = {
    "words": "ab " * 40_000,
    "options": "deploy " + "-x " * 40_000,
    "quotes": "'a' " * 30_000,
    "substitutions": "$(" * 60_000,
    "braces": "{a,b}" * 24_000,
    "here-documents": "<<a " * 30_000,
    "backticks": "`" * 120_000,
    "parameters": "${a:-" * 24_000,
    "continued lines": "deploy 1" + "\\\n1" * 40_000,
    "brackets": "[a" * 60_000,
}


@attack(point=5, forms=list(_SLOW), sandboxes=["bubblewrap"])
def a_long_command_keeps_the_program(lab: Lab, form: str) -> str:
    """With rules of many stars, both to allow and to deny."""
    stars = ["--allow", f"exec(deploy {'* x ' * 30})", "--deny", f"exec(deploy {'* y ' * 10})", *_DENY]
    began = time.monotonic()
    ran = lab.agent([[{"tool": "bash", "args": {"command": _SLOW[form]}}]], "--approval", "edit", *stars)
    seconds = time.monotonic() - began
    if not ran.calls:
        return "the call was never decided"
    return f"it took {seconds:.0f} s" if seconds > _LONGEST_DECISION else ""


@attack(point=5, forms=["the next port", "a longer number", "port 1"], sandboxes=["bubblewrap"])
def a_port_that_was_not_allowed_is_reached(lab: Lab, form: str) -> str:
    host = "127.0.0.2"
    with _service() as service:
        line = _asks_proxy(f"CONNECT {host}:{service.port} HTTP/1.1\\r\\nHost: {host}:{service.port}\\r\\n\\r\\nx")
        lab.commands(line, options=("--allow", f"network({host}:{service.port})"))
        if not service.calls:
            return "it proves nothing: the port itself is not reached either"
        before = service.calls
        ports = {"the next port": service.port % 65535 + 1, "a longer number": f"{service.port}0", "port 1": 1}
        lab.commands(line, options=("--allow", f"network({host}:{ports[form]})"))
        return "it was reached" if service.calls > before else ""


_ADDRESSES = [
    "artifact://{session}/{call}",
    "artifact://{call}",
    "ARTIFACT://{session}/{call}",
    "artifact://{session}/{call}:raw",
    "artifact://{session}/{call}:1-5",
    "history://{session}",
    "history://{session}/",
    "history://{session}:raw",
    "HISTORY://{session}",
    "local://../../{session}/journal.jsonl",
    "local://../{session}/journal.jsonl",
    "local:///{data}/sessions/{session}/journal.jsonl",
    "artifact://{session}/../journal.jsonl",
    "artifact://../sessions/{session}/artifacts/{call}.out",
    "{data}/sessions/{session}/journal.jsonl",
    "file://{data}/sessions/{session}/journal.jsonl",
]
_GUARDS: dict[str, tuple[str, ...]] = {"no rule": (), "denied": ("--approval", "full", "--deny", "read({data}/**)")}


@attack(
    point=5,
    forms=[f"{guard}: {address}" for guard in _GUARDS for address in _ADDRESSES],
    users=["user"],
    sandboxes=["bubblewrap"],
)
def an_address_shows_another_session(lab: Lab, form: str) -> str:
    guard, _, address = form.partition(": ")
    lab.write("said.txt", _SECRET)
    turns = [[{"tool": "bash", "args": {"command": line}}] for line in ("cat said.txt", "cat said.txt; seq 1 40000")]
    session = str(lab.agent(turns).events[0]["session"])
    (lab.workspace / "said.txt").unlink()
    names = {"session": session, "call": f"{session}-2", "data": str(lab.data)}
    shown = lab.agent(_reads(f"history://{session}", f"artifact://{session}/{session}-2"), "--approval", "full")
    if sum(_SECRET in call.text for call in shown.calls) != 2:
        return "it proves nothing: with everything allowed it is not shown either"
    options = [each.format(**names) for each in _GUARDS[guard]]
    return _leak(lab.agent(_reads(address.format(**names)), *options).everything)


@attack(point=5, forms=["history://", "artifact", "files", "search", "command"], sandboxes=["bubblewrap"])
def a_private_line_is_shown_to_the_model(lab: Lab, form: str) -> str:
    """What was run with `!!`, in the same session gone on with, at full but for its files."""
    lab.write("said.txt", f"{_SECRET}\n")
    lab.write("open.txt", "what-all-may-know\n")
    session = _typed(lab, "!cat open.txt", "!!cat said.txt; seq 1 40000; cat said.txt")
    (lab.workspace / "said.txt").unlink()
    folder = lab.data / "sessions" / session
    match form:
        case "history://":
            turns = _reads("history://", f"history://{session}")
        case "artifact":
            names = {path.stem for path in (folder / "artifacts").glob("*")} | {f"{session}-{n}" for n in range(1, 9)}
            turns = _reads(*(f"artifact://{each}{name}" for name in sorted(names) for each in ("", f"{session}/")))
        case "files":
            turns = _reads(str(folder / "journal.jsonl"), *map(str, folder.rglob("*.out")))
        case "command":
            turns = [[{"tool": "bash", "args": {"command": f"cat {lab.data}/sessions/*/artifacts/*.out; echo over"}}]]
        case _:
            turns = [[{"tool": "search", "args": {"pattern": "what-a", "paths": str(lab.data)}}]]
    # A model that goes on with a script begins where the conversation is: behind one answer.
    level = "full" if form in ("history://", "artifact") else "auto"
    ran = lab.agent([[{"text": "said before"}], *turns], "--resume", session, "--approval", level)
    if not any(_SECRET.encode() in path.read_bytes() for path in folder.rglob("*.out")) or not ran.calls:
        return "it proves nothing: it is not stored, or nothing was called"
    if level == "full" and not any("what-all-may-know" in call.text for call in ran.calls):
        return f"it proves nothing: what was not private is not shown either: {[call.text for call in ran.calls]}"
    return _leak("".join(call.text + call.output for call in ran.calls))


def _reads(*addresses: str) -> list[list[dict[str, Any]]]:
    return [[{"tool": "read", "args": {"path": each}}] for each in addresses]


def _leak(text: str) -> str:
    return "it was shown" if _SECRET in text else ""


def _typed(lab: Lab, *lines: str) -> str:
    """These lines typed into a console, one after another; the session it was."""
    script = lab.write(lab.folder / "typed.json", json.dumps([[{"text": "It is over."}]]))
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = _console(lab, script, terminal)
    try:
        for line in lines:
            _heard_until_quiet(master)
            os.write(master, line.encode())
            _heard_until_quiet(master)
            os.write(master, b"\r")
        _heard_until_quiet(master)
        os.write(master, b"go\r")
        _heard_until_quiet(master)
        sessions = sorted((lab.data / "sessions").iterdir(), key=lambda each: each.stat().st_mtime)
        return sessions[-1].name
    finally:
        os.close(master)
        lab._end(process)
        listed = lab.start("ps", "--json").communicate(timeout=_SECONDS)[0]
        for host in json.loads(listed or b"[]"):
            os.kill(int(host["pid"]), 9)


def _console(lab: Lab, script: Path, terminal: int) -> Any:
    import subprocess

    try:
        return subprocess.Popen(
            [str(lab.sightline), "--model", f"scripted:{script}", "--approval", "auto"],
            cwd=lab.workspace,
            env={**lab.env, "TERM": "xterm-256color"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            **lab._as_user(),
        )
    finally:
        os.close(terminal)


def _heard_until_quiet(master: int) -> None:
    """Until nothing was drawn for a while, which it was at least once."""
    deadline, heard = time.monotonic() + _SECONDS, False
    while time.monotonic() < deadline:
        if select.select([master], [], [], 1.0 if heard else 5.0)[0]:
            os.read(master, 65536)
            heard = True
        else:
            return


_COPIED = {
    "by a relative rule": "read(docs/secret)",
    "by its path": "read({0}/docs/secret)",
    "by a link": "read({1}/link/docs/secret)",
    "by a pattern": "read({1}/*/docs/**)",
    "in another case": "read({0}/DOCS/Secret)",
    "in a subfolder": "read(secret)",
}


@attack(point=5, forms=list(_COPIED), sandboxes=["bubblewrap"])
def a_file_is_read_in_a_worktree(lab: Lab, form: str) -> str:
    """What a rule denies, by the path that its copy has there and by its own. The first time without the rule."""
    secret = lab.write("docs/secret", _SECRET)
    lab.link(lab.folder / "link", lab.workspace)
    if not _made_a_repository(lab):
        return ""
    folder, name = (lab.workspace / "docs", "secret") if form == "in a subfolder" else (lab.workspace, "docs/secret")
    turns = [[{"tool": "read", "args": {"path": path}}] for path in (name, str(secret))]
    words = ("--worktree", "fix", "--approval", "full")
    if _SECRET not in lab.agent(turns, *words, cwd=folder).everything:
        return "it proves nothing: without a rule it is not read either"
    _remember(lab, _COPIED[form].format(lab.workspace, lab.folder), folder, "deny")
    return "it was read" if _SECRET in lab.agent(turns, *words, cwd=folder).everything else ""


def _made_a_repository(lab: Lab) -> bool:
    """With everything committed; not where there is no git."""
    identity = ("-c", "user.name=dev", "-c", "user.email=dev@example.com")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "start")):
        try:
            if lab.spawn(["git", *words]).wait(_SECONDS):
                return False
        except FileNotFoundError:
            return False
    return True
