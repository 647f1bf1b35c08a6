"""Which addresses may be spoken to."""

import asyncio
import ipaddress
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.exec.gateway import _addresses, is_public
from sightline.settings import Policy
from sightline.tools import Need, ToolContext, ToolError
from sightline.tools.web import _fetch, read_url
from tests.tools.web.server import Server, lookups, serving

PRIVATE = [
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "169.254.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.2.1",
    "192.0.0.8",
    "192.0.0.192",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.175.48.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:0:0:0:0:80ff:fffe",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001:db8::1",
    "2001:1::1",
    "2001:2::1",
    "2001:4:112::1",
    "2001:10::1",
    "2001:20::1",
    "2620:4f:8000::1",
    "3fff::1",
    "100::1",
    "5f00::1",
    "4000::1",
    "2002:c000:c0::1",
    "64:ff9b::c000:c0",
]


@pytest.mark.parametrize("address", [pytest.param(one, id=f"private {one}") for one in PRIVATE])
def test_an_address_of_no_public_host_is_recognised(address: str) -> None:
    """In all its forms."""
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_a_public_address_is_recognised(address: str) -> None:
    """It may be read."""
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(("address", "mapped"), [("93.184.216.34", "::ffff:93.184.216.34"), ("2606:2800:220:1::1", "")])
def test_an_address_of_this_machine_is_not_public(monkeypatch: pytest.MonkeyPatch, address: str, mapped: str) -> None:
    """However public it is: an interface has it, which is known by whether a socket can be bound to it."""
    bound: list[str] = []
    monkeypatch.setattr(_addresses, "_can_bind", lambda family, asked: bound.append(asked) or asked == address)
    for form in filter(None, (address, mapped)):
        assert not is_public(ipaddress.ip_address(form))
    assert is_public(ipaddress.ip_address("1.1.1.1"))


def test_where_any_address_can_be_bound_the_route_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ip_nonlocal_bind` is on where addresses move between machines."""
    monkeypatch.setattr(_addresses, "_can_bind", lambda family, asked: True)
    assert is_public(ipaddress.ip_address("1.1.1.1"))
    monkeypatch.setattr(_addresses, "_is_source", lambda family, asked: True)
    assert not is_public(ipaddress.ip_address("1.1.1.1"))


def test_loopback_is_an_address_of_this_machine() -> None:
    """Asked of the kernel, with nothing replaced."""
    assert _addresses._is_own(ipaddress.ip_address("127.0.0.1"))
    assert not _addresses._is_own(ipaddress.ip_address("192.0.2.7"))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0",
        "169.254.169.254",
    ],
)
async def test_this_machine_is_not_read(strict: ToolContext, server: Server, host: str) -> None:
    """However it is written; nothing is connected to."""
    with pytest.raises(ToolError, match=r"private network|cannot be found"):
        await read_url(f"http://{host}:{server.port}/", strict)
    assert server.asked == []


async def test_a_name_that_leads_to_this_machine_is_not_read(
    strict: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One private address among public ones is enough."""
    lookups(monkeypatch, ["1.1.1.1", "127.0.0.1"])
    with pytest.raises(ToolError, match=r"inner\.test \(127\.0\.0\.1\)"):
        await read_url(f"http://inner.test:{server.port}/", strict)
    assert server.asked == []


async def test_the_connection_goes_to_the_address_that_was_checked(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is looked up once: what it says the second time does not matter."""
    asked = lookups(monkeypatch, ["127.0.0.1"], ["192.0.2.1"])
    server.page("/x.txt", "here", "text/plain")
    outcome = await read_url(f"http://again.test:{server.port}/x.txt", context)
    assert outcome.text.endswith("here")
    assert asked == ["again.test"]
    assert f"host: again.test:{server.port}\r\n" in server.heads[0].lower()


async def test_the_next_address_is_tried_when_one_does_not_answer(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host may have several."""
    lookups(monkeypatch, ["127.77.77.77", "127.0.0.1"])  # nobody listens at the first
    server.page("/x.txt", "here", "text/plain")
    assert (await read_url(f"http://two.test:{server.port}/x.txt", context)).text.endswith("here")


async def test_every_redirect_is_checked(strict: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second lookup of the same name is a new one, and it is checked again."""
    checked: list[str] = []
    real = _fetch._guard.check

    def check(host: str, address: str) -> None:
        checked.append(address)
        if len(checked) > 1:
            real(host, address)

    monkeypatch.setattr(_fetch._guard, "check", check)  # the first hop only is let through
    lookups(monkeypatch, ["127.0.0.1"])
    server.redirect("/a", "/b")
    with pytest.raises(ToolError, match="private network"):
        await read_url(f"http://moves.test:{server.port}/a", strict)
    assert server.asked == ["/a"]


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://evil.test/x", r"another host, evil\.test\. Read http://evil\.test/x"),
        ("http://169.254.169.254/latest/meta-data/", r"another host, 169\.254\.169\.254"),
        ("file:///etc/passwd", "not a web address"),
        ("ftp://127.0.0.1/x", "not a web address"),
        ("javascript:alert(1)", "not a web address"),
        ("http://user@127.0.0.1/", "not a web address"),
    ],
)
async def test_a_redirect_elsewhere_ends(context: ToolContext, server: Server, location: str, message: str) -> None:
    """It is said where it leads, and the model can ask for that."""
    server.redirect("/a", location)
    with pytest.raises(ToolError, match=message):
        await read_url(f"{server.url}/a", context)
    assert server.asked == ["/a"]


def hold_to(context: ToolContext, *, allow: list[str], deny: list[str]) -> None:
    """These rules from now on."""
    policy = Policy("auto", allow, deny, context.cwd)
    context.workplace.network = lambda host, port: policy.decide(Need("network", f"{host}:{port}"))


@pytest.mark.parametrize("allowed", ["www.home.test", "*.home.test", "*"])
async def test_a_redirect_to_what_a_rule_allows_is_followed(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    """And noted."""
    hold_to(context, allow=[f"network({allowed})"], deny=[])
    lookups(monkeypatch, ["127.0.0.1"])
    server.redirect("/a", f"http://www.home.test:{server.port}/b.txt")
    server.page("/b.txt", "there", "text/plain")
    outcome = await read_url(f"http://home.test:{server.port}/a", context)
    assert outcome.details["final_url"] == f"http://www.home.test:{server.port}/b.txt"
    assert f"Notes: redirected from http://home.test:{server.port}/a\n" in outcome.text


@pytest.mark.parametrize("deny", [[], ["network(home.test:PORT)"], ["network(www.home.test)"], ["network(127.0.0.3)"]])
@pytest.mark.parametrize("there", ["home.test", "www.home.test"])
async def test_a_redirect_to_another_port_or_name_needs_a_rule(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch, there: str, deny: list[str]
) -> None:
    """`network(HOST:PORT)` is about that port: also of the host itself, and of the one with `www.`."""
    lookups(monkeypatch, ["127.0.0.1"])
    async with serving() as other:
        denied = [rule.replace("PORT", str(other.port)) for rule in deny]
        hold_to(context, allow=[f"network(home.test:{server.port})"], deny=denied)
        server.redirect("/a", f"http://{there}:{other.port}/b")
        with pytest.raises(ToolError, match=rf"another host|another port, {other.port}\. Read http|a rule denies"):
            await read_url(f"http://home.test:{server.port}/a", context)
        assert other.asked == []


async def test_another_form_of_a_page_on_another_port_needs_a_rule(context: ToolContext, server: Server) -> None:
    """A page may name any address as its markdown."""
    async with serving() as other:
        hold_to(context, allow=[f"network(127.0.0.1:{server.port})"], deny=[])
        link = f"<link rel=alternate type=text/markdown href=http://127.0.0.1:{other.port}/a.md>"
        server.page("/a", f"<html><head>{link}</head><body>{'words ' * 100}</body></html>")
        other.page("/a.md", "elsewhere", "text/markdown")
        assert "elsewhere" not in (await read_url(f"{server.url}/a", context)).text
        assert other.asked == []
        hold_to(context, allow=["network(127.0.0.1)"], deny=[])
        assert "elsewhere" in (await read_url(f"{server.url}/a", context)).text


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"])
async def test_the_address_of_a_name_may_be_denied(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """As it is for commands: the name is allowed, what it leads to is not."""
    hold_to(context, allow=["network(*)"], deny=["network(127.0.0.1)"])
    lookups(monkeypatch, [address])
    with pytest.raises(ToolError, match=r"a rule denies its address: network\(127\.0\.0\.1\)"):
        await read_url(f"http://name.test:{server.port}/", context)
    assert server.asked == []


async def test_redirects_that_never_end_do(context: ToolContext, server: Server) -> None:
    """After ten."""
    server.redirect("/a", "/b")
    server.redirect("/b", "/a", 308)
    with pytest.raises(ToolError, match="more than 10 times"):
        await read_url(f"{server.url}/a", context)
    assert len(server.asked) == 11


async def test_nothing_is_told_and_nothing_kept(context: ToolContext, server: Server) -> None:
    """No cookie comes back, no credentials, no referrer."""
    server.pages["/a"] = (
        b"HTTP/1.1 302 Found\r\nlocation: /b.txt\r\nset-cookie: id=1; Path=/\r\ncontent-length: 0\r\n\r\n"
    )
    server.page("/b.txt", "x", "text/plain")
    await read_url(f"{server.url}/a", context)
    await read_url(f"{server.url}/b.txt", context)
    heads = "\n".join(server.heads).lower()
    assert len(server.heads) == 3
    assert not any(f"{name}:" in heads for name in ("cookie", "authorization", "referer", "x-forwarded-for"))


@pytest.mark.needs("openssl")
async def test_the_certificate_is_checked_for_the_name(
    context: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the connection goes to an address."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=safe.test"]
    command += ["-addext", "subjectAltName=DNS:safe.test", "-keyout", str(key), "-out", str(certificate)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    _fetch._certificates.cache_clear()
    lookups(monkeypatch, ["127.0.0.1"])
    try:
        async with serving(secure) as server:
            server.page("/x.txt", "safe", "text/plain")
            assert (await read_url(f"https://safe.test:{server.port}/x.txt", context)).text.endswith("safe")
            with pytest.raises(ToolError, match=r"(?i)certificate"):
                await read_url(f"https://other.test:{server.port}/x.txt", context)
    finally:
        _fetch._certificates.cache_clear()


async def test_a_proxy_of_the_environment_is_used(
    strict: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks up the names this machine cannot; what this machine knows to be private does not pass."""
    monkeypatch.setenv("http_proxy", server.url)
    lookups(monkeypatch, [], ["10.0.0.1"])
    server.page("http://outside.test/x.txt", "through", "text/plain")
    assert (await read_url("http://outside.test/x.txt", strict)).text.endswith("through")
    with pytest.raises(ToolError, match="private network"):
        await read_url("http://inside.test/x.txt", strict)
    assert len(server.asked) == 1


async def test_no_proxy_is_used_for_this_machine(
    context: ToolContext, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor for an address of a private network."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.page("/x.txt", "direct", "text/plain")
    assert (await read_url(f"{server.url}/x.txt", context)).text.endswith("direct")


def test_asking_what_a_read_needs_loads_no_client() -> None:
    """Only a read does."""
    code = "import sys, sightline.tools.web as web; web.needs_of('https://a.example'); print('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"
