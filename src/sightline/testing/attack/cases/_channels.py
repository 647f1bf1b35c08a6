"""Side channels: services, hosts, devices and other processes that a command could ask to act in its place."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from sightline.testing.attack import Lab, attack

# Listens at its first argument (`@` for a name without a file) and writes into the folder of its second when asked.
_SERVICE = """
import os, socket, sys
address, folder, kind, renamed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
listener = socket.socket(socket.AF_UNIX, kind)
listener.bind(address.replace("@", chr(0), 1) if address.startswith("@") else address)
if kind != socket.SOCK_DGRAM:
    listener.listen()
if renamed:
    os.rename(address, renamed)
open(folder + "/.ready", "w").close()
while True:
    if kind == socket.SOCK_DGRAM:
        listener.recv(100)
    else:
        listener.accept()
    open(folder + "/asked", "w").close()
"""
_ASK = """
import socket, sys
name = sys.argv[1].replace("@", chr(0), 1) if sys.argv[1].startswith("@") else sys.argv[1]
one = socket.socket(socket.AF_UNIX, int(sys.argv[2]))
one.connect(name)
one.send(b"x")
"""
_PLACES = ("tmp", "var-tmp", "home", "workspace", "runtime")
_TYPES = ("1", "2", "5")
_SOCKETS = [f"{place} {kind} {how}" for place, kind, how in itertools.product(_PLACES, _TYPES, ("plain", "renamed"))]


def _folder(lab: Lab, place: str) -> Path:
    if place in ("tmp", "var-tmp"):
        folder = Path(f"/{place.replace('-', '/')}/{lab.folder.name}")
        folder.mkdir(mode=0o755)
        os.chown(folder, lab.account.uid, lab.account.gid)
        return folder
    return {"home": lab.make(lab.home / ".agent"), "workspace": lab.workspace, "runtime": lab.runtime}[place]


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} never appeared")
        time.sleep(0.01)


def _serve(lab: Lab, address: str, kind: str = "1", renamed: str = "") -> None:
    script = lab.write(lab.folder / "service.py", _SERVICE)
    lab.write(lab.folder / "ask.py", _ASK)
    lab.spawn([str(lab.python), str(script), address, str(lab.outside), kind, renamed])
    _wait_for(lab.outside / ".ready")
    (lab.outside / ".ready").unlink()


@attack(point=4, forms=_SOCKETS, sandboxes=["bubblewrap"])
def a_command_asks_a_service(lab: Lab, form: str) -> str:
    """Landlock cannot keep a command from a socket that has a path."""
    place, kind, how = form.split()
    folder = _folder(lab, place)
    try:
        name = f"{folder}/agent.sock"
        _serve(lab, f"{folder}/agent.tmp" if how == "renamed" else name, kind, name if how == "renamed" else "")
        lab.commands(f"{lab.python} {lab.folder}/ask.py {name} {kind}; python3 {lab.folder}/ask.py {name} {kind}")
        return lab.written()
    finally:
        if place in ("tmp", "var-tmp"):
            shutil.rmtree(folder)


@attack(point=4, forms=["/tmp/.X11-unix/X0", "/tmp/dbus-Ab3", "/org/service", "name"])
def a_command_asks_a_service_without_a_file(lab: Lab, form: str) -> str:
    """X11 and D-Bus have such names."""
    _serve(lab, f"@{form}-{lab.folder.name}")
    lab.commands(f"{lab.python} {lab.folder}/ask.py @{form}-{lab.folder.name} 1")
    return lab.written()


@attack(point=4, forms=["home", "workspace", "tmp"], sandboxes=["bubblewrap"])
def a_command_types_into_tmux(lab: Lab, form: str) -> str:
    tmux = shutil.which("tmux", path=lab.env["PATH"])
    if tmux is None:
        return ""
    folder = _folder(lab, form)
    try:
        socket = folder / "tmux"
        lab.spawn([tmux, "-S", str(socket), "-f", "/dev/null", "-D"])
        _wait_for(socket)
        lab.commands(
            f"tmux -S {socket} run-shell 'touch {lab.outside}/typed'; tmux -S {socket} new -d touch {lab.outside}/new"
        )
        return lab.written()
    finally:
        if form == "tmp":
            shutil.rmtree(folder)


_HELLO = r"""
import glob, json, os, socket, sys
for name in glob.glob(sys.argv[1] + "/sightline/*.sock") + glob.glob(sys.argv[2] + "/run/*.sock"):
    one = socket.socket(socket.AF_UNIX)
    try:
        one.connect(name)
        one.sendall(b'{"kind":"subscribe","attends":true}\n')
        line = one.makefile("rb").readline()
    except OSError:
        continue
    if b'"hello"' in line:
        open("got", "ab").write(line)
"""
_LEAVING = r"""
import os, resource, sys
if os.fork():
    os.wait()
    import time; time.sleep(1)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
try:
    resource.setrlimit(10, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except (OSError, ValueError):
    pass
os.execve(sys.executable, [sys.executable, *sys.argv[1:]], {})
"""
_CONNECTIONS = ["{0}", "env -i {0}", "setsid -w {0}", "sh -c '{0} & wait'", "nice {0}", "{1}"]


@attack(point=4, forms=_CONNECTIONS)
def a_command_connects_to_its_host(lab: Lab, form: str) -> str:
    """Who is connected may answer for the person."""
    return _connected(lab, form, {})


@attack(point=4, forms=_CONNECTIONS)
def a_command_outside_the_sandbox_connects_to_its_host(lab: Lab, form: str) -> str:
    """It was allowed to run there, not to allow others."""
    return _connected(lab, form, {"sandbox": False})


def _connected(lab: Lab, form: str, args: dict[str, bool]) -> str:
    hello, leaving = lab.write(lab.folder / "hello.py", _HELLO), lab.write(lab.folder / "leaving.py", _LEAVING)
    plain = f"{lab.python} {hello} {lab.runtime} {lab.data}"
    left = f"{lab.python} {leaving} {hello} {lab.runtime} {lab.data}"
    calls = lab.commands(form.format(plain, left), options=["--approval", "full"], args=args)
    if len(calls) != 1 or calls[0].refused:
        return f"the command was not run: {calls}"
    got = lab.workspace / "got"
    return f"the host answered: {got.read_text()}" if got.exists() else ""


# Holds a terminal, and writes into the folder of its argument when a key comes from elsewhere.
_TERMINAL = """
import os, sys
ours, its = os.openpty()
with open(sys.argv[1] + ".new", "w") as file:
    file.write(os.ttyname(its))
os.rename(sys.argv[1] + ".new", sys.argv[1])
os.read(ours, 1)
open(sys.argv[2] + "/drawn", "w").close()
"""
_OPENINGS = [
    "echo x > {0}",
    "echo x >> {0}",
    "printf x | tee {0}",
    "printf x | dd of={0}",
    "exec 3<>{0}; echo x >&3",
    'python3 -c \'import os; os.write(os.open("{0}", os.O_RDWR | os.O_NOCTTY), b"x")\'',
    "cat < {0} & sleep 0.1; kill $!; test -e /dev/null && stty -F {0} raw && echo x > {0}",
    "cp /etc/hostname {0}",
]


@attack(point=4, forms=_OPENINGS)
def a_command_writes_to_another_terminal(lab: Lab, form: str) -> str:
    holder, noted = lab.write(lab.folder / "terminal.py", _TERMINAL), lab.home / "terminal"
    lab.spawn([str(lab.python), str(holder), str(noted), str(lab.outside)])
    _wait_for(noted)
    lab.commands(form.format(noted.read_text()))
    return lab.written()


_DEVICE_NAMES = "vda sda nvme0n1 mem kmsg loop0 kvm fuse net/tun tty1 ttyS0 input/event0 snd/timer dri/card0 vsock"
_DEVICES = [f"/dev/{name}" for name in _DEVICE_NAMES.split()]


@attack(point=4, forms=_DEVICES)
def a_command_opens_a_device(lab: Lab, form: str) -> str:
    code = (
        "import os\n"
        "for flags in (os.O_RDONLY, os.O_RDWR):\n"
        "    try: os.open('{0}', flags | os.O_NONBLOCK)\n"
        "    except OSError: continue\n"
        "    open('got', 'w').write('opened')\n"
    )
    script = lab.write(lab.folder / "open.py", code.format(form))
    lab.commands(f"python3 {script}")
    return f"{form} was opened" if (lab.workspace / "got").exists() else ""


@attack(point=4, forms=["b 7 0", "c 1 1", "c 5 1", "c 10 229"], users=["root"])
def root_makes_a_device(lab: Lab, form: str) -> str:
    lab.commands(f"mknod dev {form} && head -c 1 dev")
    return "a device was made" if (lab.workspace / "dev").exists() else ""


_SECRET = "value-of-another-process"
_READS = [
    "cat /proc/[0-9]*/environ",
    "cat /proc/[0-9]*/task/*/environ",
    "cat /proc/{pid}/environ",
    "cat /proc/$PPID/environ",
    "cat /proc/1/environ",
    "ps eww -A",
    "grep -a {secret} /proc/{pid}/mem",
    "cat /proc/{pid}/fd/3",
    "cat /proc/{pid}/root{file}",
    "cat /proc/{pid}/cwd/secret",
    "gdb -p {pid} -batch -ex 'info proc'; strace -p {pid} -o trace & sleep 0.2; cat trace",
]


@attack(point=4, forms=_READS)
def a_command_reads_another_process(lab: Lab, form: str) -> str:
    """Its environment, memory and open files; of a file that is closed to all others only the process has it open."""
    file = lab.write(lab.folder / "closed" / "secret", _SECRET)
    code = (
        "import os, sys, time; os.dup2(os.open(sys.argv[1], os.O_RDONLY), 3); os.unlink(sys.argv[1]); time.sleep(100)"
    )
    process = lab.spawn([str(lab.python), "-c", code, str(file)], env={"HELD": _SECRET}, cwd=lab.folder)
    deadline = time.monotonic() + 20
    while file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    calls = lab.commands(f"({form.format(pid=process.pid, secret=_SECRET[:5], file=file)}) > got 2>/dev/null; true")
    got = (lab.workspace / "got").read_bytes() if (lab.workspace / "got").exists() else b""
    return "the secret was read" if _SECRET.encode() in got or any(_SECRET in call.output for call in calls) else ""


_BACKGROUND = [
    "(sleep 1; touch late) &",
    "setsid sh -c 'sleep 1; touch late' &",
    "(setsid sh -c 'sleep 1; touch late' >/dev/null 2>&1 &)",
    "nohup sh -c 'sleep 1; touch late' >/dev/null 2>&1 &",
    "(setsid env -i sh -c '/bin/sleep 1; /bin/touch late' >/dev/null 2>&1 &)",
    "(trap '' TERM HUP INT; sleep 1; touch late) >/dev/null 2>&1 &",
    "(ulimit -x 7; setsid env -i sh -c '/bin/sleep 1; /bin/touch late' >/dev/null 2>&1 &)",
    "bash -c 'coproc { sleep 1; touch late; }; disown -a'",
]


@attack(point=4, forms=_BACKGROUND)
def a_command_leaves_a_child_behind(lab: Lab, form: str) -> str:
    lab.commands(form, "sleep 2")
    return "the child outlived its command" if (lab.workspace / "late").exists() else ""


_PACKETS = [
    f"{family} {kind}" for family, kind in [(2, 2), (10, 2), (2, 3), (17, 3), (17, 2), (40, 1), (38, 5), (31, 3)]
]


@attack(point=4, forms=_PACKETS)
def a_command_sends_a_packet(lab: Lab, form: str) -> str:
    """Families that no namespace and no rule of Landlock holds; under bubblewrap UDP is in a namespace of its own."""
    family, kind = map(int, form.split())
    code = (
        "import socket\n"
        "one = socket.socket({0}, {1})\n"
        "if {0} in (2, 10) and {1} == 2:\n"
        "    one.sendto(b'x', ('127.0.0.1' if {0} == 2 else '::1', int(open('port').read())))\n"
        "else:\n"
        "    open('got', 'w').write('made')\n"
    )
    server = (
        "import os, socket, sys\n"
        "one = socket.socket({0}, 2); one.bind(('127.0.0.1' if {0} == 2 else '::1', 0))\n"
        "open('port.new', 'w').write(str(one.getsockname()[1])); os.rename('port.new', 'port')\n"
        "one.recv(1); open(sys.argv[1] + '/received', 'w')\n"
    )
    if kind == 2 and family in (2, 10):
        lab.spawn([str(lab.python), "-c", server.format(family), str(lab.outside)])
        _wait_for(lab.workspace / "port")
    lab.commands(f"python3 {lab.write(lab.folder / 'send.py', code.format(family, kind))}; sleep 0.1")
    return lab.written() or ("a socket was made" if (lab.workspace / "got").exists() else "")


_CALLS = {"keyctl": (250, 0, -3, 1), "add_key": (248, 0, 0, 0, 0, -3), "io_uring": (425, 8, 0), "x32": (1073741863,)}


@attack(point=4, forms=list(_CALLS))
def a_command_makes_a_call_that_leads_out(lab: Lab, form: str) -> str:
    """The keyrings of the login, and calls that no filter sees. By their numbers on one kind of machine."""
    if os.uname().machine != "x86_64":
        return ""
    numbers = ", ".join(map(str, _CALLS[form]))
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
done = libc.syscall(*map(ctypes.c_long, ({numbers},)))
if done >= 0 or ctypes.get_errno() not in (1, 38):
    open("got", "w").write(str((done, ctypes.get_errno())))
"""
    lab.commands(f"python3 {lab.write(lab.folder / 'call.py', code)}")
    got = lab.workspace / "got"
    return f"the call was made: {got.read_text()}" if got.exists() else ""


@attack(point=10, forms=["000", "002", "007", "022", "066"])
def another_user_reads_what_is_stored(lab: Lab, form: str) -> str:
    """With a umask that lets them."""
    script = lab.write(lab.folder / "turns.json", '[[{"text": "done"}]]')
    words = f"umask {form}; exec {lab.sightline} -p go --model scripted:{script}"
    lab.spawn(["sh", "-c", words]).communicate(timeout=60)
    top = [path for path in (lab.data, lab.runtime / "sightline") if path.exists()]
    if lab.data not in top:
        return "nothing was stored"
    stored = [path for folder in top for path in (folder, *folder.rglob("*"))]
    opened = [str(path.relative_to(lab.folder)) for path in stored if path.lstat().st_mode & 0o077]
    return f"open to others: {', '.join(opened)}" if opened else ""


_LIMITS = ["cpu=1:1", "nofile=0:0", "fsize=0:0", "as=1:1"]


@attack(point=4, forms=_LIMITS)
def a_command_limits_another_program(lab: Lab, form: str) -> str:
    """A limit of CPU time that is over is a signal; the others leave it without files or memory."""
    other = lab.spawn(["sleep", "60"])
    name, value = form.split("=")
    limits = Path(f"/proc/{other.pid}/limits")
    before = limits.read_text()
    lab.commands(f"prlimit --pid {other.pid} --{name}={value}")
    return "" if limits.read_text() == before else f"the limit {name} of another program was changed"


_CONTROL_GROUPS = r"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("mounted", exist_ok=True)
for flags in (0x10000000 | 0x20000 | 0x02000000, 0x10000000 | 0x20000):
    if os.fork() == 0:
        if libc.unshare(flags) == 0 and libc.mount(b"none", b"mounted", b"cgroup2", 0, None) == 0:
            for name in ("cgroup.procs", "cgroup.kill", "cgroup.freeze", "cgroup.subtree_control"):
                try:
                    os.open("mounted/" + name, os.O_WRONLY)
                    open("got", "a").write(name)
                except OSError:
                    pass
        os._exit(0)
    os.wait()
"""


@attack(point=4)
def a_command_mounts_the_control_groups(lab: Lab, form: str) -> str:
    """Whoever may write there stops or ends every program of the session the person is logged in with."""
    lab.write("groups.py", _CONTROL_GROUPS)
    lab.commands("python3 groups.py")
    got = lab.workspace / "got"
    return f"opened for writing: {got.read_text()}" if got.exists() else ""


_NAMED = r"""
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, ("\n%s (" % sys.argv[1]).encode(), 0, 0, 0)
open("named", "w").close()
time.sleep(60)
"""


@attack(point=4)
def the_guard_is_deceived_by_a_name(lab: Lab, form: str) -> str:
    """The program is killed outright; what ends its commands then must not take another program for one of them."""
    other = lab.spawn(["sleep", "60"])
    lab.write("named.py", _NAMED)
    turns = [[{"tool": "bash", "args": {"command": f"python3 named.py {other.pid}"}}], [{"text": "done"}]]
    script = lab.write(lab.folder / "turns.json", json.dumps(turns))
    process = lab.start("-p", "go", "--model", f"scripted:{script}", "--output-format", "events")
    _wait_for(lab.workspace / "named")
    os.kill(process.pid, signal.SIGKILL)
    try:
        other.wait(8)
    except subprocess.TimeoutExpired:
        return ""
    return "the other program was ended"
