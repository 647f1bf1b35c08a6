"""Ways of a sandboxed command, or of a page that is read, to a service that was not allowed."""

import contextlib
import json
import shlex
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator

from sightline.testing.attack import Lab, attack

_HERE = "127.0.0.2"
_SECONDS = 3.0

# How the machine itself, where every service listens, can be written.
_THIS_MACHINE = [
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "0x7f.1",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1.",
    "127.8.9.10",
    "0.0.0.0",
    "0",
    "localhost",
    "LocalHost.",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
]
_TRICKS = [
    "127.0.0.1%20",
    "user@127.0.0.1",
    "example.org@127.0.0.1",
    "127.0.0.1\\@example.org",
    "example.org%00.127.0.0.1",
    "example.org\t127.0.0.1",
]


_HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"


class Service:
    """Somebody on this machine who takes calls, answers each the same, and remembers what was said."""

    def __init__(self, sock: socket.socket, answer: bytes = _HELLO) -> None:
        self._answer = answer
        self.port: int = sock.getsockname()[1] if sock.family != socket.AF_UNIX else 0
        self._sock = sock
        self._heard: list[bytes] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def heard(self) -> str:
        return b"\n--\n".join(self._heard).decode("latin-1")

    @property
    def calls(self) -> int:
        return len(self._heard)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._sock.accept()[0]
                self._heard.append(b"")
                threading.Thread(target=self._hear, args=(client, len(self._heard) - 1), daemon=True).start()

    def _hear(self, client: socket.socket, number: int) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(_SECONDS)
            client.sendall(self._answer)
            while piece := client.recv(65536):
                self._heard[number] += piece


@contextlib.contextmanager
def _service(host: str = "0.0.0.0", port: int = 0, answer: bytes = _HELLO) -> Iterator[Service]:
    with socket.create_server((host, port)) as sock:
        yield Service(sock, answer)
        sock.shutdown(socket.SHUT_RDWR)


def _asks_proxy(data: str) -> str:
    """A command line that sends these bytes, as `printf` writes them, to the proxy of its environment."""
    return (
        "a=${HTTP_PROXY#http://}; exec 3<>/dev/tcp/${a%:*}/${a#*:} || exit 9; "
        f"printf {shlex.quote(data)} >&3; timeout {_SECONDS:g} cat <&3"
    )


def _reached(lab: Lab, service: Service, command: str, *options: str) -> str:
    calls = lab.commands(command, options=options)
    if not calls:
        return "the command was not run"
    return f"reached: {service.heard!r}" if service.calls else ""


@attack(point=8, forms=[*_THIS_MACHINE, *_TRICKS], sandboxes=["bubblewrap"])
def every_host_is_allowed_and_this_machine_is_reached(lab: Lab, form: str) -> str:
    """`network(*)` is about the open internet."""
    with _service() as service:
        written = form.replace("%", "%%").replace("\\", "\\\\")
        data = f"CONNECT {written}:{service.port} HTTP/1.1\\r\\n\\r\\nhello"
        return _reached(lab, service, _asks_proxy(data), "--allow", "network(*)")


@attack(point=8, forms=["127.0.0.1", "127.1", "localhost", "[::ffff:127.0.0.1]"], sandboxes=["bubblewrap"])
def plain_http_reaches_this_machine(lab: Lab, form: str) -> str:
    with _service() as service:
        data = f"GET http://{form}:{service.port}/ HTTP/1.1\\r\\nHost: example.org\\r\\n\\r\\n"
        return _reached(lab, service, _asks_proxy(data), "--allow", "network")


def _octal(data: bytes) -> str:
    return "".join(f"\\{byte:03o}" for byte in data)


_ADDRESS = bytes([127, 0, 0, 1])
_MAPPED = bytes(10) + b"\xff\xff" + _ADDRESS
_SOCKS: dict[str, bytes] = {
    "5, an address": b"\x05\x01\x00\x05\x01\x00\x01" + _ADDRESS,
    "5, a mapped address": b"\x05\x01\x00\x05\x01\x00\x04" + _MAPPED,
    "5, a name": b"\x05\x01\x00\x05\x01\x00\x03\x09localhost",
    "5, a number": b"\x05\x01\x00\x05\x01\x00\x03\x0a2130706433",
    "5, signed in": b"\x05\x01\x02\x01\x01u\x01p\x05\x01\x00\x03\x09localhost",
    "5, BIND": b"\x05\x01\x00\x05\x02\x00\x01" + _ADDRESS,
    "5, UDP": b"\x05\x01\x00\x05\x03\x00\x01" + _ADDRESS,
}


@attack(point=8, forms=[*_SOCKS, "4", "4a"], sandboxes=["bubblewrap"])
def socks_reaches_this_machine(lab: Lab, form: str) -> str:
    with _service() as service:
        port = service.port.to_bytes(2)
        if form in _SOCKS:
            data = _SOCKS[form] + port
        elif form == "4":
            data = b"\x04\x01" + port + _ADDRESS + b"\0"
        else:
            data = b"\x04\x01" + port + b"\0\0\0\x01" + b"\0localhost\0"
        return _reached(lab, service, _asks_proxy(_octal(data)), "--allow", "network(*)")


_DIRECTLY = [
    "exec 3<>/dev/tcp/127.0.0.1/{0}; echo hello >&3",
    "exec 3<>/dev/tcp/127.9.9.9/{0}; echo hello >&3",
    "curl --noproxy '*' -m 3 http://127.0.0.1:{0}/",
    "env -u HTTP_PROXY -u http_proxy curl -m 3 http://127.0.0.1:{0}/",
    "unshare -n true; exec 3<>/dev/tcp/127.0.0.1/{0}; echo hello >&3",
    "unshare -Urn sh -c 'ip link set lo up'; exec 3<>/dev/tcp/127.0.0.1/{0}; echo hello >&3",
    "nsenter -t 1 -n curl -m 3 http://127.0.0.1:{0}/",
    "nsenter --net=/proc/$PPID/ns/net curl -m 3 http://127.0.0.1:{0}/",
    "for n in /proc/*/ns/net; do nsenter --net=$n curl -m 1 --noproxy '*' http://127.0.0.1:{0}/; done",
]


@attack(point=8, forms=_DIRECTLY)
def a_command_passes_by_the_proxy(lab: Lab, form: str) -> str:
    """Whatever rules there are, nothing leads out but the proxy."""
    with _service() as service:
        return _reached(lab, service, form.format(service.port), "--allow", "network(example.org)")


@attack(
    point=8, forms=["no rule", "another host", "another port", "denied too", "denied as a whole", "denied as written"]
)
def a_service_that_no_rule_allows_is_reached(lab: Lab, form: str) -> str:
    """There is no person: what no rule allows is refused, and what one denies whatever others allow."""
    with _service(_HERE) as service:
        rule = f"network({_HERE}:{service.port})"
        options = {
            "no rule": [],
            "another host": ["--allow", f"network(127.0.0.3:{service.port})"],
            "another port": ["--allow", f"network({_HERE}:{service.port % 65535 + 1})"],
            "denied too": ["--allow", rule, "--deny", f"network({_HERE})"],
            "denied as a whole": ["--allow", rule, "--deny", "network"],
            "denied as written": ["--allow", rule, "--deny", "network(0x7f000002)"],
        }[form]
        return _reached(lab, service, f"curl -m 5 http://{_HERE}:{service.port}/", *options)


_GET, _POST = "GET http://{0}/ HTTP/1.1\\r\\n", "POST http://{0}/ HTTP/1.1\\r\\n"
_CHUNKED = "Transfer-Encoding: chunked\\r\\n"
_HIDDEN = "GET / HTTP/1.1\\r\\nHost: internal\\r\\n\\r\\n"
_SMUGGLED = {
    "another Host": f"{_GET}Host: internal\\r\\n\\r\\n",
    "two Hosts": f"{_GET}Host: {{0}}\\r\\nHost: internal\\r\\n\\r\\n",
    "a second request": f"{_GET}\\r\\n{_HIDDEN}",
    "behind a body": f"{_POST}Content-Length: 2\\r\\n\\r\\nhi{_HIDDEN}",
    "behind chunks": f"{_POST}{_CHUNKED}\\r\\n0\\r\\n\\r\\n{_HIDDEN}",
    "length and chunks": f"{_POST}Content-Length: 99\\r\\n{_CHUNKED}\\r\\n0\\r\\n\\r\\n{_HIDDEN}",
    "a trailer": f"{_POST}{_CHUNKED}\\r\\n0\\r\\nHost: internal\\r\\n\\r\\n",
    "a chunk's extension": f"{_POST}{_CHUNKED}\\r\\n1;\\nHost: internal\\r\\nx\\r\\n0\\r\\n\\r\\n",
    "a folded header": f"{_GET}X: y\\r\\n Host: internal\\r\\n\\r\\n",
    "a bare line feed": f"{_GET}X: y\\nHost: internal\\r\\n\\r\\n",
    "a blank before the colon": f"{_GET}Host : internal\\r\\n\\r\\n",
    "an upgrade": f"{_GET}Connection: upgrade\\r\\nUpgrade: x\\r\\n\\r\\n{_HIDDEN}",
}


# What is a request, whatever else comes with it.
_FORWARDED = ("another Host", "two Hosts", "a second request", "behind a body", "behind chunks", "an upgrade")


@attack(point=8, forms=list(_SMUGGLED), sandboxes=["bubblewrap"])
def a_request_for_another_host_rides_along(lab: Lab, form: str) -> str:
    """On the connection to a server that is allowed."""
    with _service(_HERE) as service:
        name = f"{_HERE}:{service.port}"
        lab.commands(_asks_proxy(_SMUGGLED[form].format(name)), options=["--allow", f"network({name})"])
        if form in _FORWARDED and not service.calls:
            return "the server was not asked at all, which proves nothing"
        return f"forwarded: {service.heard!r}" if "internal" in service.heard else ""


@attack(point=8, forms=["silent", "half a request", "endless", "many"], sandboxes=["bubblewrap"])
def the_proxy_is_kept_busy(lab: Lab, form: str) -> str:
    """And the next command still has a network, and the program its event loop."""
    open_many = 'for i in $(seq 300); do eval "exec $((i + 20))<>/dev/tcp/${a%:*}/${a#*:}"; {0}; done; sleep 1'
    say = {
        "silent": ":",
        "half a request": "printf 'GET http://' >&$((i + 20))",
        "endless": "head -c 40000 /dev/zero | tr '\\0' A >&$((i + 20))",
        "many": "printf 'CONNECT h%s.example:1 HTTP/1.1\\r\\n\\r\\n' $i >&$((i + 20))",
    }[form]
    busy = f"a=${{HTTP_PROXY#http://}}; ulimit -n 1000; {open_many.replace('{0}', say)}"
    with _service(_HERE) as service:
        name = f"{_HERE}:{service.port}"
        calls = lab.commands(busy, f"curl -sS -m 10 http://{name}/", options=["--allow", f"network({name})"])
        if len(calls) != 2 or "hi" not in calls[1].text:
            return f"the next command had no network: {calls[-1].text if calls else 'none was run'}"
        return ""


_HOG = """
import os, socket, time
host, port = os.environ["HTTP_PROXY"][7:].split(":")
many = {"its own address": [host], "other addresses": [f"127.9.9.{n}" for n in range(1, 9)]}
while True:
    held = []
    for each in many[sys.argv[1]] * (320 // len(many[sys.argv[1]])):
        try:
            held.append(socket.create_connection((each, int(port)), 2))
        except OSError:
            pass
    time.sleep(2)
"""


@attack(point=8, forms=["its own address", "other addresses"], sandboxes=["bubblewrap"])
def a_job_takes_all_connections(lab: Lab, form: str) -> str:
    """And says nothing on them, while the next command needs one."""
    lab.write("hog.py", f"import sys\n{_HOG}")
    with _service(_HERE) as service:
        name = f"{_HERE}:{service.port}"
        hog = {"tool": "bash", "args": {"command": f"python3 hog.py {shlex.quote(form)}", "async": True}}
        asking = f"sleep 2; for i in 1 2 3; do curl -sS -m 5 http://{name}/; sleep 1; done"
        ran = lab.agent([[hog], [{"tool": "bash", "args": {"command": asking}}]], "--allow", f"network({name})")
        said = [call.text for call in ran.calls]
        return "" if "hihihi" in said else f"the next command had no network: {said}"


@attack(point=8, sandboxes=["bubblewrap"])
def an_abstract_socket_is_reached(lab: Lab, form: str) -> str:
    name = f"\0sightline-attack-{lab.folder.name}"
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(name)
        sock.listen()
        service = Service(sock)
        script = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({name!r}); s.send(b'hello')"
        return _reached(lab, service, f"python3 -c {shlex.quote(script)}", "--allow", "network")


_LEADS = {
    "another port": ("redirect", f"{_HERE}:{{0}}", []),
    "a port that is denied": ("redirect", f"{_HERE}:{{0}}", ["--deny", f"network({_HERE}:{{0}})"]),
    "a port of another name for it": ("redirect", "localhost:{0}", []),
    "a name that is denied": ("redirect", "localhost:{0}", ["--allow", "network", "--deny", "network(localhost)"]),
    "an address that is denied": ("redirect", "localhost:{0}", ["--allow", "network", "--deny", "network(127.0.0.1)"]),
    "its markdown elsewhere": ("alternate", f"{_HERE}:{{0}}", []),
    "its feed elsewhere": ("feed", f"{_HERE}:{{0}}", []),
}


@attack(point=8, forms=list(_LEADS), sandboxes=["bubblewrap"])
def a_page_leads_past_the_rules(lab: Lab, form: str) -> str:
    """One host and port is allowed, and what it answers names another."""
    how, there, options = _LEADS[form]
    with _service() as service:
        url = f"http://{there.format(service.port)}/"
        kind = "text/markdown" if how == "alternate" else "application/rss+xml"
        page = f'<html><head><link rel=alternate type={kind} href="{url}"></head><script></script></html>'
        redirect = f"HTTP/1.1 302 Found\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n"
        named = f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {len(page)}\r\n\r\n{page}"
        with _service(_HERE, answer=(redirect if how == "redirect" else named).encode()) as first:
            name = f"{_HERE}:{first.port}"
            words = [word.format(service.port) for word in options]
            turn = [{"tool": "read", "args": {"path": f"http://{name}/page"}}]
            lab.agent([turn], "--allow", f"network({name})", "--set", "web.private_hosts=true", *words)
            if not first.calls:
                return "the page was not read at all, which proves nothing"
            return f"reached: {service.heard!r}" if service.calls else ""


_OWN = ["93.184.216.34", "[2606:2800:220:1::1]", "[::ffff:93.184.216.34]", "192.0.0.192", "192.88.99.1", "[3fff::1]"]
_LISTENS = """
import socket, sys
server = socket.create_server(("::", 8080), family=socket.AF_INET6, dualstack_ipv6=True)
while True:
    client = server.accept()[0]
    open(sys.argv[1], "a").write("reached\\n")
    client.close()
"""


@attack(
    point=8,
    forms=[f"{each}, {how}" for each in _OWN for how in ("a command", "a page")],
    users=["root"],
    sandboxes=["bubblewrap"],
)
def every_host_is_allowed_and_an_own_address_is_reached(lab: Lab, form: str) -> str:
    """A machine on the open internet, made of a network namespace, and what listens on it behind its firewall."""
    alone = ["unshare", "-n", "--"]
    if not shutil.which("ip") or subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        return ""  # such a machine cannot be made here
    host, how = form.split(", ")
    command = {"tool": "bash", "args": {"command": f"curl -sS -g -m 5 http://{host}:8080/"}}
    page = {"tool": "read", "args": {"path": f"http://{host}:8080/"}}
    turns = [[command if how == "a command" else page], [{"text": "done"}]]
    script, heard = lab.write(lab.folder / "own.json", json.dumps(turns)), lab.folder / "heard"
    address = host.strip("[]").rpartition("::ffff:")[2]
    lines = [
        "ip link set lo up",
        f"ip addr add {address}/{128 if ':' in address else 32} dev lo",
        f'"{lab.python}" -c {shlex.quote(_LISTENS)} {heard} & listening=$!',
        "sleep 0.5",
        f"curl -s -g -m 5 http://{host}:8080/ >/dev/null; test -s {heard} || exit 9; rm {heard}",
        f'"{lab.sightline}" -p go --model scripted:{script} --allow "network(*)" --set web.timeout=5; kill $listening',
    ]
    process = lab.spawn([*alone, "sh", "-c", "\n".join(lines)])
    process.communicate(timeout=60)
    if process.returncode == 9:
        return "the service did not answer at all, which proves nothing"
    return "the machine itself was reached" if heard.exists() else ""
