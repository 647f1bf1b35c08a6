"""Web addresses: what is one, its host, and the lines after it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tools import ToolError
from sightline.tools.web import is_web_url, needs_of
from sightline.tools.web._address import follow, is_same_site, parse
from tests.tools.support import spelled

FORMS = [
    ("scheme/http", "http://example.com/a", "http://example.com/a", ""),
    ("scheme/https", "https://example.com/a", "https://example.com/a", ""),
    ("scheme/upper case", "HTTPS://EXAMPLE.com/A", "https://example.com/A", ""),
    ("scheme/www. means https", "www.example.com/a", "https://www.example.com/a", ""),
    ("scheme/no path", "https://example.com", "https://example.com/", ""),
    ("selector/:raw", "https://example.com/a:raw", "https://example.com/a", ":raw"),
    ("selector/:N", "https://example.com/a:7", "https://example.com/a", ":7-"),
    ("selector/:A-B", "https://example.com/a:5-10", "https://example.com/a", ":5-10"),
    ("selector/:A+C", "https://example.com/a:5+3", "https://example.com/a", ":5-7"),
    ("selector/several", "https://example.com/a:5-10,20-30", "https://example.com/a", ":5-10,20-30"),
    ("selector/:range:raw", "https://example.com/a:5-10:raw", "https://example.com/a", ":5-10:raw"),
    ("selector/:raw:range", "https://example.com/a:raw:5-10", "https://example.com/a", ":5-10:raw"),
    ("selector/after a query", "https://example.com/a?b=c:5", "https://example.com/a?b=c", ":5-"),
    ("selector/of www.", "www.example.com/a:5", "https://www.example.com/a", ":5-"),
    ("selector/:conflicts is part of the path", "https://a.com/b:conflicts", "https://a.com/b:conflicts", ""),
    ("selector/unknown is part of the path", "https://a.com/Talk:Main", "https://a.com/Talk:Main", ""),
    ("port/alone", "https://example.com:80", "https://example.com:80/", ""),
    ("port/a slash makes it a line", "https://example.com/:80", "https://example.com/", ":80-"),
    ("port/and a selector", "https://host:8080/x:5-10", "https://host:8080/x", ":5-10"),
    ("port/and a selector without a path", "https://host:8080:5-10", "https://host:8080/", ":5-10"),
    ("port/no port but a range", "https://host:5-10", "https://host/", ":5-10"),
    ("port/no port but raw", "https://host:raw", "https://host/", ":raw"),
    ("port/and raw", "https://host:8080:raw", "https://host:8080/", ":raw"),
    ("port/the usual one", "https://host:443/x", "https://host/x", ""),
    ("address/IPv6", "http://[::1]:8080/x", "http://[::1]:8080/x", ""),
    ("address/a fragment is not sent", "https://host/x#part", "https://host/x", ""),
    ("address/fragment and lines", "https://host/x#part:5", "https://host/x", ":5-"),
    ("address/other alphabets", "https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b", ""),
]


@pytest.mark.parametrize(
    ("written", "url", "selector"),
    [pytest.param(*form[1:], id=f"read.md/Web URLs/{form[0]}") for form in FORMS],
)
def test_an_address_and_its_lines(written: str, url: str, selector: str) -> None:
    """The port rule, and what of it is sent."""
    address, found = parse(written)
    assert is_web_url(written)
    assert (str(address), spelled(found)) == (url, selector)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(written, id=f"read.md/Web URLs/refused {written[:40]!a}")
        for written in (
            "https://",
            "https:///x",
            "https://good.example\\@evil.example/",
            "https://user:secret@example.com/",
            "https://good.example@evil.example/",
            "https://ex%61mple.com/",
            "https://exa mple.com/",
            "https://host:99999/",
            "https://host:0/",
            "https://host:8080x/",
            "https://-.example/",
            "https://[::1/",
            "https://[1.2.3.4]/",
            "https://host/a\nb",
            "https://host/a\tb",
            "https://host/\0",
            "https://" + "a" * 300 + ".com/",
            "https://host/" + "a" * 9000,
            "https://host/\ud800",
            "https://\ud800/",
        )
    ],
)
def test_what_two_parsers_could_read_differently_is_refused(written: str) -> None:
    """In words."""
    with pytest.raises(ToolError):
        parse(written)


@pytest.mark.parametrize(
    "path", ["a.txt", "www.log", "wwwx.example.com", "ftp://host/x", "httpx://host", "artifact://x"]
)
def test_other_paths_are_no_web_addresses(path: str) -> None:
    """A file called www.log is a file."""
    assert not is_web_url(path)


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("https://Docs.Example.com:8443/a:5-9", "docs.example.com:8443"),
        ("www.example.com", "www.example.com:443"),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]:80"),
        ("https://example.com./", "example.com:443"),
    ],
)
def test_the_need_names_the_host_and_port(path: str, host: str) -> None:
    """read.md/Web URLs: what a rule is about."""
    (need,) = needs_of(path)
    assert (need.access, need.what) == ("network", host)


def test_links_lead_to_web_addresses_only() -> None:
    """None for everything else."""
    base, _ = parse("https://example.com/a/b?c")
    assert str(follow(base, "../x")) == "https://example.com/x"
    assert str(follow(base, "//other.example/y")) == "https://other.example/y"
    for link in ("file:///etc/passwd", "javascript:alert(1)", "https://a@b/", "gopher://x", "http://[", "http://h:x/"):
        assert follow(base, link) is None


def test_the_same_site_is_the_host_with_or_without_www() -> None:
    """Not a host that only ends like it."""
    assert is_same_site("example.com", "www.example.com")
    assert is_same_site("www.example.com", "example.com")
    assert not is_same_site("example.com", "evil-example.com")
    assert not is_same_site("example.com", "docs.example.com")


@given(st.text(alphabet="htps:/.@[]%#?\\w0159ab-+,raw\0\n é\ud800", max_size=40))
def test_anything_is_an_address_or_refused_in_words(text: str) -> None:
    """And parsing the result again gives the same: nothing is hidden in it."""
    try:
        address, _ = parse("https://" + text)
    except ToolError:
        return
    assert str(address).isascii()
    assert "@" not in address.authority
    if ":" not in address.target:
        assert parse(str(address))[0] == address
