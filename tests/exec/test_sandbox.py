"""A command in the sandbox: what it can write, reach and leave behind. Every rule for both ways of enforcing it."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.exec import SETUP_ATTEMPTS, Process, SandboxSpec, SandboxStatus, sandbox_status, sandboxed, work_in
from sightline.exec.sandbox import _bubblewrap, _landlock, _programs, _removal, _sandbox, _seccomp
from sightline.settings import store_key

from .running import how_to_start, run_boxed, start_boxed

Run = Callable[..., subprocess.CompletedProcess[str]]

needs_bubblewrap = pytest.mark.needs("bubblewrap")
needs_landlock = pytest.mark.skipif(not _landlock.abi(), reason="the kernel has no Landlock")


@pytest.fixture(
    params=[pytest.param("bubblewrap", marks=needs_bubblewrap), pytest.param("landlock", marks=needs_landlock)]
)
def kind(request) -> str:
    return request.param


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that a command can see and must not write to. Not in /tmp: that looks empty to it."""
    folder = Path(tempfile.mkdtemp(prefix="sightline-test-", dir=Path.home()))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def run(kind: str, workspace: Path) -> Run:
    """Runs a command line of a shell's in the sandbox."""

    def run(script: str, *, network: bool = False, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        spec = SandboxSpec(workspace=str(workspace), network=network)
        return run_argv(["sh", "-c", script], spec, kind, cwd or workspace)

    return run


def run_argv(argv, spec: SandboxSpec, kind: str | None, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_boxed(argv, spec, cwd=cwd, kind=kind, start_new_session=True, text=True)  # type: ignore[arg-type]


def test_folders_deeper_than_a_path_can_be_are_removed(tmp_path):
    """More of them in each other than Python calls itself, the last of them closed to us."""
    code = (
        "import os\nfor _ in range(1100): os.mkdir('four'); os.chdir('four')\nos.symlink('/etc', 'x'); os.chmod('.', 0)"
    )
    folder = tmp_path / "temporary"
    (folder / "0").mkdir(parents=True)
    subprocess.run([sys.executable, "-c", code], cwd=folder / "0", check=True)
    _removal.remove_folder(str(folder))
    assert not folder.exists()


def test_writing_in_the_workspace_works(run, workspace):
    """Making, changing, moving and removing, in folders too."""
    done = run("mkdir a b && echo x > a/f && mv a/f b/g && echo y >> b/g && ln -s b/g l && rm -r a && : > b/empty")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in workspace.rglob("*")) == ["b", "empty", "g", "l"]
    assert (workspace / "b" / "g").read_text() == "x\ny\n"


@pytest.mark.parametrize(
    "attempt",
    ["echo x > {0}/new", "echo x > {0}/kept", "echo x >> {0}/kept", "rm {0}/kept", "mkdir {0}/d", "mv {0}/kept here",
     "ln {0}/kept {0}/l", "ln -s x {0}/l", "truncate -s 0 {0}/kept", "mkfifo {0}/p", "mv {0} elsewhere"],
)  # fmt: skip
def test_writing_elsewhere_fails(run, outside, attempt):
    """Nothing outside changes."""
    (outside / "kept").write_text("kept")
    assert run(attempt.format(outside)).returncode != 0
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "kept"


def test_a_link_does_not_lead_out(run, workspace, outside):
    """One that was there before, and one the command makes, to a file and to a folder."""
    (outside / "file").write_text("kept")
    (workspace / "before").symlink_to(outside)
    done = run(f"echo x > before/new; echo x > before/file; ln -s {outside} after; echo x > after/new; ls after")
    assert done.stdout.split() == ["file"]
    assert (outside / "file").read_text() == "kept"


def test_everything_can_be_read(run, outside):
    """What could be read before."""
    (outside / "file").write_text("words")
    assert run(f"cat {outside}/file; ls /usr/bin | head -n 1").stdout.startswith("words")


def test_children_are_bound_by_the_same_rules(run, outside):
    """A grandchild in a session of its own."""
    done = run(f"setsid sh -c 'sh -c \"echo x > {outside}/new\"' ; test -e {outside}/new || echo safe")
    assert done.stdout == "safe\n"


def test_the_temporary_folder_is_private_and_gone_afterwards(run):
    """Its name is in TMPDIR; what the command made read-only in it goes too."""
    done = run(
        'echo "$TMPDIR"; stat -c %a "$TMPDIR"; '
        'mkdir -p "$TMPDIR/a/b" && echo x > "$TMPDIR/a/b/c" && chmod 555 "$TMPDIR/a/b"'
    )
    folder, mode = done.stdout.split()
    assert (done.returncode, mode) == (0, "700")
    assert not Path(folder).exists()


def test_the_usual_devices_work(run):
    """Throwing away, and random numbers."""
    done = run("echo x > /dev/null; head -c 4 /dev/urandom | wc -c; head -c 1 /dev/zero | wc -c")
    assert (done.stdout, done.stderr) == ("4\n1\n", "")


@pytest.mark.parametrize("kind", [pytest.param("bubblewrap", marks=needs_bubblewrap)])
def test_a_command_may_have_terminals_of_its_own(run):
    """Under bubblewrap, where they are not in one folder with the user's."""
    terminal = 'import os; a, b = os.openpty(); os.write(b, b"x"); print(os.read(a, 1), os.isatty(b))'
    assert run(f"{sys.executable} -c '{terminal}'").stdout == "b'x' True\n"


OPENS = "import os, sys\ntry: os.open(sys.argv[1], int(sys.argv[2]))\nexcept OSError: sys.exit(3)"


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK])
def test_other_terminals_are_out_of_reach(kind, workspace, flags):
    """To read there is to read what the user types, to write is to type, or to draw, in his place."""
    ours, its = os.openpty()
    try:
        argv = [sys.executable, "-c", OPENS, os.ttyname(its), str(flags)]
        assert subprocess.run(argv, start_new_session=True).returncode == 0
        assert run_argv(argv, SandboxSpec(workspace=str(workspace)), kind, workspace).returncode == 3
    finally:
        os.close(ours)
        os.close(its)


@pytest.mark.parametrize(
    "name", ["/dev/kmsg", "/dev/mem", "/dev/kvm", "/dev/vda", "/dev/sda", "/dev/loop0", "/dev/fuse", "/dev/tty1"]
)
@pytest.mark.parametrize("flags", [os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY | os.O_NONBLOCK])
def test_devices_are_out_of_reach(kind, workspace, name, flags):
    """Disks, memory, the kernel's log: not even to read."""
    argv = [sys.executable, "-c", OPENS, name, str(flags)]
    assert run_argv(argv, SandboxSpec(workspace=str(workspace)), kind, workspace).returncode == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make one")
def test_root_cannot_make_a_device(run, workspace):
    """In its workspace it may write, but this would be another way to a disk."""
    assert run("mknod disk b 7 0 || mknod zero c 1 5").returncode != 0
    assert list(workspace.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to lose")
def test_root_has_only_its_rights_over_files(run):
    """For it and for what it starts; a new namespace gives none over what is outside."""
    done = run("grep -h CapEff /proc/self/status; sh -c 'grep CapPrm /proc/self/status'; grep NoNew /proc/self/status")
    assert done.stdout.split()[1::2] == ["000000000000000b", "000000000000000b", "1"]


@pytest.mark.parametrize("what", ["environ", "mem", "maps", "fd/0", "cwd"])
def test_other_processes_are_out_of_reach(run, what):
    """What they have in memory holds secrets: that of our own host, and of every program of the same user."""
    for pid in (os.getpid(), os.getppid()):
        assert run(f"head -c 1 /proc/{pid}/{what} || readlink /proc/{pid}/{what}").stdout == ""


def test_the_first_process_it_sees_tells_nothing_of_the_hosts_environment(run, monkeypatch):
    """Under bubblewrap that is bubblewrap, with the same filtered environment; the system's otherwise."""
    monkeypatch.setenv("OUTSIDE", "secret-value")
    box_env = run("tr '\\0' '\\n' < /proc/1/environ | grep -c secret-value; env | grep -c secret-value").stdout
    assert box_env.split()[0] <= box_env.split()[1]


@pytest.mark.parametrize(
    ("family", "kind_of_socket"), [(2, 2), (10, 2), (2, 3), (17, 3), (40, 1), (31, 3), (38, 5), (29, 3)]
)
def test_sockets_that_no_namespace_holds_cannot_be_made(run, kind, family, kind_of_socket):
    """UDP under Landlock, raw packets, virtual machines, Bluetooth, the kernel's ciphers and CAN under both."""
    code = f"import socket; socket.socket({family}, {kind_of_socket}).sendto"
    said = run(f"{sys.executable} -c '{code}'")
    if kind == "bubblewrap" and (family, kind_of_socket) in ((2, 2), (10, 2)):
        assert said.returncode == 0, "it is in a namespace of its own"
    else:
        assert said.returncode != 0


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(("network", "said"), [(True, "connected\n"), (False, "refused\n")])
def test_the_network_is_there_when_asked_for(run, kind, port, network, said):
    """A server on this very machine is network, too."""
    if kind == "landlock" and _landlock.abi() < 4:
        pytest.skip("this kernel's Landlock knows no network")
    code = f"import socket; socket.create_connection(({'127.0.0.1'!r}, {port}))"
    script = f'{sys.executable} -c "{code}" 2> /dev/null && echo connected || echo refused'
    assert run(script, network=network).stdout == said


@pytest.mark.parametrize(
    ("script", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("exec no-such-command", 127), ("true", 0)]
)
def test_the_exit_code_is_the_commands_own(run, kind, script, code):
    """Bubblewrap says 128 + n for a signal, as a shell does; under Landlock the command is the process."""
    assert run(script).returncode == (-9 if code == 137 and kind == "landlock" else code)


@pytest.mark.parametrize("missing", ["no-such-command", "./no=such"])
def test_a_command_that_does_not_exist_ends_with_127(kind, workspace, missing):
    """As in a shell, and says so."""
    done = run_argv([missing, "a b"], SandboxSpec(workspace=str(workspace)), kind, workspace)
    assert done.returncode == 127
    assert missing in done.stderr


def test_a_command_whose_name_has_an_equals_sign_is_a_command(kind, workspace):
    """Its arguments arrive as they are."""
    script = workspace / "a=b"
    script.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    script.chmod(0o755)
    done = run_argv(["./a=b", "x y", "$HOME", ""], SandboxSpec(workspace=str(workspace)), kind, workspace)
    assert done.stdout == "x y|$HOME||"


def test_signals_and_the_environment_are_as_without(run):
    """Nothing is left ignored, and no variable is added but those for temporary files and caches."""
    plain = subprocess.run(["sh", "-c", "grep SigIgn /proc/self/status"], capture_output=True, text=True)
    assert run("grep SigIgn /proc/self/status").stdout == plain.stdout
    names = set(run("env").stdout.splitlines())
    added = {line.split("=")[0] for line in names} - set(os.environ)
    caches = {"npm_config_cache", "npm_config_update_notifier", "GOCACHE"}
    assert added <= {"TMPDIR", "TMPPREFIX", "PWD", "OLDPWD", "_", "SHLVL", *caches}


def test_it_starts_in_the_folder_it_was_told(run, tmp_path):
    """Also one outside the workspace."""
    assert run("pwd", cwd=tmp_path).stdout == f"{tmp_path}\n"


def test_the_workspace_may_be_named_through_a_link(kind, workspace, tmp_path):
    """The folder counts, not the way to it."""
    (tmp_path / "link").symlink_to(workspace)
    done = run_argv(["sh", "-c", "echo x > f"], SandboxSpec(workspace=str(tmp_path / "link")), kind, tmp_path / "link")
    assert (done.returncode, (workspace / "f").read_text()) == (0, "x\n")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("", "has no workspace"),
        ("/", "whole file system"),
        ("{0}/none", "does not exist"),
        ("{0}/file", "not a folder"),
    ],
)
def test_a_workspace_that_cannot_be_is_a_mistake_with_a_hint(tmp_path, named, message):
    """Nothing is started, nothing left behind."""
    (tmp_path / "file").write_text("")
    (tmp_path / "root").symlink_to("/")
    with pytest.raises(UserMistake, match=message) as caught:
        sandboxed(["true"], "", SandboxSpec(workspace=named.format(tmp_path)))
    assert caught.value.hint
    with pytest.raises(UserMistake, match="whole file system"):
        sandboxed(["true"], "", SandboxSpec(workspace=str(tmp_path / "root")))


@needs_bubblewrap
@pytest.mark.parametrize("exists", [True, False])
def test_our_own_files_stay_as_they_are_inside_the_workspace(workspace, monkeypatch, exists):
    """Not written, not made, and not moved out of the way to be replaced."""
    own = workspace / "share" / "deep" / "sightline"
    monkeypatch.setenv("SIGHTLINE_HOME", str(own))
    if exists:
        own.mkdir(parents=True)
        (own / "journal").write_text("kept")
    attempts = ["echo x > {0}/journal", "rm -rf share", "mv {0} away", "{1} share/deep away", "{1} share away"]
    rename = f"{sys.executable} -c 'import os, sys; os.rename(*sys.argv[1:])'"  # `mv` would copy
    script = "; ".join([*attempts, "echo x > other"]).format("share/deep/sightline", rename)
    run_argv(["sh", "-c", script], SandboxSpec(workspace=str(workspace)), "bubblewrap", workspace)
    assert (workspace / "other").exists()
    kept = [path.read_text() for path in own.iterdir() if path.name not in ("workspaces", "used-workspaces", "keys")]
    assert kept == (["kept"] if exists else [])


@needs_bubblewrap
def test_what_is_read_only_in_the_workspace_stays_as_it_is(workspace, tmp_path):
    """Files and folders, several in one folder; neither they nor what they are in can be moved away. The rest works."""
    kept = [workspace / name for name in ("a/b/one", "a/b/two", "a/folder/file", "top")]
    for file in kept:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("kept")
    (workspace / "link").symlink_to("top")
    named = ["a/b/one", "a/b/two", "a/folder", "link", "missing", str(tmp_path)]
    spec = SandboxSpec(workspace=str(workspace), read_only=tuple(str(workspace / name) for name in named))
    rename = f"{sys.executable} -c 'import os, sys; os.rename(*sys.argv[1:])'"
    writes = [f"echo x > {file}" for file in (*kept, "a/folder/new")]
    moves = [f"{rename} {name} away" for name in ("a", "a/b", "a/b/one", "a/folder", "top")]
    replaces = ["echo x > new; mv -f new a/b/one", "rm -rf a top"]
    for attempt in [*writes, *moves, *replaces]:
        assert run_argv(["sh", "-c", attempt], spec, "bubblewrap", workspace).returncode != 0, attempt
    assert [file.read_text() for file in kept] == ["kept"] * 4
    assert not (workspace / "away").exists()
    done = run_argv(["sh", "-c", "echo x > a/b/three && echo x > missing && mkdir d"], spec, "bubblewrap", workspace)
    assert (done.returncode, done.stderr) == (0, "")


@needs_landlock
def test_landlock_says_that_it_keeps_nothing_read_only_in_the_workspace(workspace):
    """Only when something that is there should be."""
    (workspace / "kept").touch()
    for names, said in ((("kept", "missing"), "read-only files in the workspace (kept)"), (("missing",), "")):
        spec = SandboxSpec(workspace=str(workspace), read_only=tuple(str(workspace / name) for name in names))
        box = sandboxed(["true"], "", spec, _kind="landlock")
        box.cleanup()
        assert said in box.message
        assert bool(said) == ("read-only" in box.message)


@needs_landlock
def test_landlock_refuses_a_workspace_that_holds_our_own_files(workspace, monkeypatch):
    """It can allow a folder, not all of one but a part."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(workspace / "own"))
    with pytest.raises(UserMistake, match="Landlock cannot protect") as caught:
        sandboxed(["true"], "", SandboxSpec(workspace=str(workspace)), _kind="landlock")
    assert "SIGHTLINE_HOME" in caught.value.hint


@pytest.mark.parametrize("inside", [".", "sessions"])
def test_our_own_folder_is_nobodys_workspace(tmp_path, monkeypatch, inside):
    """Nor is one in it."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "own"))
    (tmp_path / "own" / inside).mkdir(parents=True, exist_ok=True)
    with pytest.raises(UserMistake, match="stores its own files"):
        sandboxed(["true"], "", SandboxSpec(workspace=str(tmp_path / "own" / inside)))


@needs_bubblewrap
@pytest.mark.parametrize("place", ["home", "runtime"])
def test_the_socket_of_a_host_cannot_be_reached(workspace, tmp_path, monkeypatch, place):
    """Whoever reaches one could have a command run outside. Both places where hosts listen."""
    folder = tmp_path / "sightline-home" / "run" if place == "home" else tmp_path / "runtime" / "sightline"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s.sock"))
        listener.listen()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(folder / 's.sock')!r})"
        assert subprocess.run([sys.executable, "-c", code]).returncode == 0
        done = run_argv([sys.executable, "-c", code], SandboxSpec(workspace=str(workspace)), "bubblewrap", workspace)
    assert "FileNotFoundError" in done.stderr


@needs_bubblewrap
def test_what_sessions_keep_is_not_there(workspace, tmp_path, monkeypatch):
    """Among it is what a person ran in private."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "own"))
    said = tmp_path / "own" / "sessions" / "abc" / "artifacts" / "abc-1.out"
    said.parent.mkdir(parents=True)
    said.write_text("private")
    done = run_argv(["cat", str(said)], SandboxSpec(workspace=str(workspace)), "bubblewrap", workspace)
    assert (done.stdout, done.returncode) == ("", 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root owns them")
def test_root_cannot_change_the_kernels_settings(run):
    """They are guarded by ownership alone. Only asked, never tried: it would be this machine's."""
    code = 'import os; os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))'
    assert run(f"{sys.executable} -c '{code}'").returncode != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to be root to have rights to lose")
def test_root_cannot_undo_the_mounts(run, outside):
    """Neither directly nor in a namespace of its own."""
    run(f"mount -o remount,rw /; mount -o remount,rw {outside}; umount /tmp; echo x > {outside}/new")
    run(f"unshare -Urm sh -c 'mount -o remount,rw,bind /; umount /tmp; echo x > {outside}/new'")
    assert not (outside / "new").exists()


async def start(kind: str, workspace: Path, script: str) -> tuple[Process, _sandbox.SandboxedCommand]:
    for _ in range(SETUP_ATTEMPTS):
        box = sandboxed(["sh", "-c", script], str(workspace), SandboxSpec(workspace=str(workspace)), _kind=kind)  # type: ignore[arg-type]
        given = {"handover": box.handover, "pass_fds": box.descriptors}
        process = Process(box.argv, cwd=str(workspace), env=box.env, grace=5.0, **given)
        await until(lambda box=box, process=process: box.is_set_up or process.exit_code is not None)
        if box.is_set_up:
            return process, box
        await process.end()
        process.close()
        box.cleanup()
    pytest.fail("no sandbox was set up")


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.01)


def sleepers(mark: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", mark]]


async def test_ending_it_ends_everything_inside(kind, workspace):
    """A child in a session of its own that ignores being asked included."""
    mark = f"31{os.getpid()}.5"
    inside = f'(trap "" TERM; setsid sleep {mark}) & sleep {mark} & sleep {mark}'
    process, box = await start(kind, workspace, inside)
    process._grace = 0.3
    await until(lambda: len(sleepers(mark)) == 3)
    await process.end()
    process.close()
    box.cleanup()
    await until(lambda: not sleepers(mark))


async def test_a_command_that_is_asked_to_end_has_its_time_for_that(kind, workspace):
    """What encloses it does not end first and take it along."""
    process, box = await start(
        kind, workspace, "trap 'sleep 0.3; echo done > said; exit' TERM; : > ready; while :; do sleep 0.05; done"
    )
    await until((workspace / "ready").exists)
    await process.end()
    process.close()
    box.cleanup()
    assert (workspace / "said").read_text() == "done\n"


@needs_bubblewrap
async def test_it_ends_with_whoever_started_it(workspace):
    """Killed without a chance to end anything."""
    mark = f"32{os.getpid()}.5"
    for _ in range(SETUP_ATTEMPTS):
        box = sandboxed(["sleep", mark], str(workspace), SandboxSpec(workspace=str(workspace)), _kind="bubblewrap")
        options = how_to_start(box, os.environ)
        code = f"import subprocess; subprocess.Popen({list(box.argv)!r}, pass_fds={options['pass_fds']}).wait()"
        starter = await asyncio.create_subprocess_exec(sys.executable, "-c", code, start_new_session=True, **options)
        await until(lambda starter=starter: bool(sleepers(mark)) or starter.returncode is not None)
        if starter.returncode is None:
            break
        box.cleanup()
    starter.kill()
    await starter.wait()
    await until(lambda: not sleepers(mark))
    box.cleanup()


@pytest.fixture
def undecided(monkeypatch, tmp_path) -> Path:
    """As in a process that has not looked for a sandbox yet, with an empty folder as its PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setattr(_sandbox, "_decided", None)
    monkeypatch.setattr(_programs, "_OF_THE_SYSTEM", frozenset())
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program_in(folder: Path, name: str, script: str = "exit 0") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def test_without_any_sandbox_the_command_runs_and_says_so(workspace, undecided, monkeypatch):
    """Word by word."""
    monkeypatch.setattr(_landlock, "abi", lambda: 0)
    box = sandboxed(["echo", "x"], "", SandboxSpec(workspace=str(workspace)))
    assert (box.argv, box.env) == (("echo", "x"), {})
    assert box.message == (
        "no sandbox here: bubblewrap is not installed and the kernel has no Landlock; the command runs unprotected"
    )


def test_the_status_says_why_nothing_better_is_used(undecided, monkeypatch):
    """Bubblewrap missing, then Landlock too."""
    program_in(undecided, "apt")
    monkeypatch.setattr(_landlock, "abi", lambda: 3)
    hint = "install bubblewrap (apt install bubblewrap)"
    assert sandbox_status() == SandboxStatus(kind="landlock", why="bubblewrap is not installed", hint=hint)
    monkeypatch.setattr(_landlock, "abi", lambda: 0)
    assert sandbox_status().kind == "landlock", "it was decided before"
    monkeypatch.setattr(_sandbox, "_decided", None)
    assert sandbox_status().kind == "none"


def test_what_is_wrong_with_bubblewrap_is_a_kind_beside_its_words(undecided, workspace, monkeypatch):
    """Words are for people: a program that ends with our own is no reason to install it."""

    def kind() -> str:
        found = _bubblewrap.problem()
        assert found is not None
        return found.kind

    assert kind() == "missing"
    own = program_in(undecided, "bwrap", "echo 'its helper is not installed' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{undecided}:/usr/bin:/bin")
    assert (kind(), sandbox_status().hint) == ("failing", "")
    program_in(undecided, "bwrap", "exec sleep 600")
    monkeypatch.setattr(_bubblewrap, "_SECONDS_FOR_A_PROBE", 0.2)
    assert kind() == "silent"
    own.unlink()
    program_in(workspace, "bwrap")
    work_in(workspace)
    monkeypatch.setenv("PATH", str(workspace))
    assert kind() == "untrusted"


def test_a_bubblewrap_that_does_not_work_at_the_start_is_not_used(undecided, monkeypatch):
    """It is tried for real; what it says is passed on, and visible as long as the process lives."""
    program_in(undecided, "bwrap", "echo 'bwrap: no permission to make namespaces' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{undecided}:/usr/bin:/bin")
    status = sandbox_status()
    assert status.kind != "bubblewrap"
    assert "bubblewrap does not work here: bwrap: no permission to make namespaces (tried 3 times)" in status.why


@needs_bubblewrap
def test_a_bubblewrap_that_fails_for_a_moment_is_used(undecided, tmp_path, monkeypatch):
    """No room for a process just then: a process has its sandbox for as long as it lives."""
    failed = tmp_path / "failed"
    once = f"[ -e {failed} ] || {{ : > {failed}; echo 'bwrap: no child: try again' >&2; exit 1; }}"
    program_in(undecided, "bwrap", f'{once}; exec {_bubblewrap_path()} "$@"')
    monkeypatch.setenv("PATH", f"{undecided}:/usr/bin:/bin")
    assert sandbox_status() == SandboxStatus(kind="bubblewrap")
    assert failed.exists()


@needs_bubblewrap
def test_a_sandbox_that_stops_working_is_a_refusal(workspace, undecided, monkeypatch):
    """Removed, replaced by one that fails, or hidden by another PATH: nothing runs with less than before."""
    real = _bubblewrap_path()
    own = program_in(undecided, "bwrap", f'exec {real} "$@"')
    monkeypatch.setenv("PATH", f"{undecided}:/usr/bin:/bin")
    assert sandbox_status().kind == "bubblewrap"
    spec, script = SandboxSpec(workspace=str(workspace)), ["sh", "-c", "echo x > ran"]
    assert run_argv(script, spec, None, workspace).returncode == 0
    (workspace / "ran").unlink()
    program_in(undecided, "bwrap", "echo 'bwrap: cannot make namespaces' >&2; exit 1")
    done = run_argv(script, spec, None, workspace)
    assert (done.returncode, "cannot make namespaces" in done.stderr) == (1, True)
    own.unlink()
    with pytest.raises(OutsideFailure, match="no longer works") as caught:
        run_argv(script, spec, None, workspace)
    assert "install bubblewrap" in caught.value.hint
    assert sandbox_status().kind == "bubblewrap"
    monkeypatch.setenv("PATH", str(undecided))
    with pytest.raises(OutsideFailure):
        run_argv(script, spec, None, workspace)
    assert not (workspace / "ran").exists()


def _bubblewrap_path() -> str:
    found = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    assert found is not None
    return found


@needs_bubblewrap
@pytest.mark.parametrize("planted", ["env", "bwrap", "sh"])
def test_a_program_planted_in_the_workspace_is_not_run(workspace, tmp_path, monkeypatch, planted):
    """An activated environment puts a folder of the workspace first on PATH; what a command puts there runs only in
    the sandbox, and does not lead to less of one."""
    monkeypatch.setattr(_sandbox, "_decided", None)
    monkeypatch.setenv("PATH", f"{workspace}/.venv/bin:{os.environ['PATH']}")
    program_in(workspace / ".venv" / "bin", planted, f"echo x > {tmp_path}/outside; exit 1")
    work_in(workspace)
    assert sandbox_status().kind == "bubblewrap"
    done = run_argv(["./a=b"], SandboxSpec(workspace=str(workspace)), None, workspace)
    assert done.returncode == 127, "it went through the real env and sh, to a command that does not exist"
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("abi", "network", "said"),
    [(7, True, []), (7, False, []), (3, False, []), (2, True, ["truncation of files"])],
)
def test_what_landlock_cannot_do_is_said(workspace, monkeypatch, abi, network, said):
    """By what the kernel's version of it knows."""
    monkeypatch.setattr(_landlock, "abi", lambda: abi)
    box = sandboxed(["true"], "", SandboxSpec(workspace=str(workspace), network=network), _kind="landlock")
    box.cleanup()
    assert all(word in box.message for word in ["Unix sockets", *said])
    assert "network" not in box.message
    assert "UDP" not in box.message


@pytest.mark.parametrize(("abi", "said"), [(7, "UDP"), (3, "network access")])
def test_without_a_filter_for_the_machine_landlock_keeps_less(workspace, monkeypatch, abi, said):
    """Which is said, too."""
    monkeypatch.setattr(_landlock, "abi", lambda: abi)
    monkeypatch.setattr(_seccomp, "_MACHINES", {})
    box = sandboxed(["true"], "", SandboxSpec(workspace=str(workspace)), _kind="landlock")
    box.cleanup()
    assert said in box.message


def test_a_spec_travels_as_json():
    """It goes over a socket."""
    spec = SandboxSpec(workspace="/w", network=True, read_only=("/w/a",))
    assert msgspec.json.decode(msgspec.json.encode(spec), type=SandboxSpec) == spec


@needs_bubblewrap
def test_nothing_we_store_is_seen_by_a_command(workspace: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, prompts and sessions, also where they are by default, and a key that is stored while the command runs."""
    monkeypatch.setenv("HOME", str(outside))
    monkeypatch.setenv("SIGHTLINE_HOME", str(outside / "moved"))
    default = outside / ".local" / "share" / "sightline"
    (default / "keys").mkdir(parents=True)
    (default / "keys" / "keys.json").write_text("secret-by-default")
    (outside / "moved").mkdir()
    (outside / "moved" / "prompts.jsonl").write_text("secret-prompt")
    (outside / "seen").write_text("seen")
    waits = "touch started; until [ -e go ]; do sleep 0.01; done"
    script = f"{waits}; cd {outside}; cat {default}/keys/* moved/* moved/keys/* seen"
    process, box = start_boxed(["sh", "-c", script], SandboxSpec(workspace=str(workspace)), cwd=workspace)
    with process:
        deadline = time.monotonic() + 60
        while not (workspace / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        store_key("ANTHROPIC_API_KEY", "secret-pasted")
        (workspace / "go").touch()
        output, _ = process.communicate(timeout=60)
    box.cleanup()
    assert output == b"seen"
