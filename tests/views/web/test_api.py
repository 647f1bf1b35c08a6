"""The HTTP API: list, start, state, rows, search, text, download, cancel; and that it is as its document says."""

import hashlib
import re
from pathlib import Path

import msgspec
import pytest

from sightline.journal import JobIndex, JobRecord, Store
from sightline.secrets import Secrets
from sightline.views.web._app import routes_of
from sightline.views.web.api._api import Api
from sightline.views.web.api._bodies import FoundBody, JobBody, JobList, ProblemBody, RowsBody, SessionList, Started
from tests.views.web.conftest import serving, wait_for


def texts(answer) -> list[str]:
    return ["".join(run[0] for run in row) for row in answer.json()["rows"]]


def test_a_command_is_started_listed_and_seen_to_end(served):
    """From the request to the exit code, in the shapes that are promised."""
    answer = served.post("/api/sessions", {"argv": ["sh", "-c", "echo out; echo err >&2; exit 3"], "cwd": "/"})
    assert answer.status_code == 201
    started = msgspec.json.decode(answer.content, type=Started)
    served.ended(started.job)
    job = msgspec.json.decode(served.get(f"/api/jobs/{started.job}").content, type=JobBody)
    assert (job.state, job.exit_code, job.bytes, job.cwd) == ("failed", 3, 8, "/")
    sessions = msgspec.json.decode(served.get("/api/sessions").content, type=SessionList).sessions
    assert job in next(session.jobs for session in sessions if session.id == started.session)
    rows = served.get(f"/api/jobs/{job.id}/rows").json()
    assert rows == {"total": 2, "first": 0, "rows": [[["out"]], [["err", {"e": 1}]]]}


def test_a_line_for_the_shell_runs_in_a_shell(served):
    """What needs a shell gets one, and what does not is run as it stands."""
    job = served.post("/api/sessions", {"command": "printf '%s\\n' a b | wc -l"}).json()["job"]
    served.ended(job)
    assert texts(served.get(f"/api/jobs/{job}/rows")) == ["2"]
    plain = served.post("/api/sessions", {"command": "echo plain"}).json()["job"]
    assert served.ended(plain)["command"] == "echo plain"


def test_a_second_command_runs_in_a_session_that_is_running(served):
    """Its id names the session, and the session lists both."""
    first = served.start("sleep", "60")
    session = first.rpartition("-")[0]
    answer = served.post(f"/api/sessions/{session}/jobs", {"argv": ["echo", "second"]})
    assert (answer.status_code, answer.json()) == (201, {"session": session, "job": f"{session}-2"})
    served.ended(f"{session}-2")
    assert texts(served.get(f"/api/jobs/{session}-2/rows")) == ["second"]
    served.post(f"/api/jobs/{first}/cancel")
    assert served.ended(first)["state"] == "cancelled"


def test_cancel_ends_a_job_and_keeps_its_output(served):
    """Accepted at once; then it is cancelled, and what it said is there."""
    job = served.start("sh", "-c", "echo before; exec sleep 60")
    wait_for(lambda: texts(served.get(f"/api/jobs/{job}/rows")) == ["before"])
    assert served.post(f"/api/jobs/{job}/cancel").status_code == 202
    ended = served.ended(job)
    assert (ended["state"], ended["exit_code"]) == ("cancelled", 130)
    assert texts(served.get(f"/api/jobs/{job}/rows")) == ["before"]
    assert served.post(f"/api/jobs/{job}/cancel").status_code == 409


def test_a_timeout_is_passed_on(served):
    """A command that takes too long is ended and says so."""
    job = served.start("sleep", "60", timeout=0.2)
    assert (served.ended(job)["state"], served.ended(job)["exit_code"]) == ("timed_out", 124)


def test_the_state_of_a_session(served):
    """The fold, with its number, whether the session runs or is over."""
    job = served.run("echo", "hello")
    state = served.get(f"/api/sessions/{job.rpartition('-')[0]}").json()
    (call,) = state["entries"]
    assert (call["id"], call["pieces"][0][1], call["exit_code"]) == (job, "hello\n", 0)
    assert state["seq"] >= 3


def test_rows_search_and_text_of_an_output(served):
    """The same rows by number, by what they contain, and as text."""
    job = served.run("seq", "1", "3000")
    rows = served.get(f"/api/jobs/{job}/rows?first=1998&count=3")
    assert (rows.json()["total"], rows.json()["first"], texts(rows)) == (3000, 1998, ["1999", "2000", "2001"])
    assert len(served.get(f"/api/jobs/{job}/rows?count=9999").json()["rows"]) == 500
    found = msgspec.json.decode(served.get(f"/api/jobs/{job}/find?text=299&limit=3").content, type=FoundBody)
    assert (found.rows, found.more) == ([298, 1298, 2298], True)
    rest = served.get(f"/api/jobs/{job}/find?text=299&limit=100&first={found.next}").json()
    assert (rest["rows"], rest["more"]) == (list(range(2989, 2999)), False)
    text = served.get(f"/api/jobs/{job}/text")
    assert text.text == "".join(f"{n}\n" for n in range(1, 3001))
    assert text.headers["x-sightline-cut"] == "0"


def test_text_of_a_long_output_is_its_last_part(served):
    """At most 8 MB, whole rows, and how much is left out is said."""
    job = served.run("sh", "-c", "yes 0123456789abcdef | head -c 9000000")
    text = served.get(f"/api/jobs/{job}/text")
    cut = int(text.headers["x-sightline-cut"])
    assert 9_000_000 - 8 * 1024 * 1024 <= cut < 1_000_000
    assert text.text.startswith("0123456789abcdef\n")
    assert len(text.content) == 9_000_000 - cut + (not served.artifact(job).read_bytes().endswith(b"\n"))


def test_a_download_is_the_artifact_byte_for_byte(served):
    """All of it, also where it is no text, under a name, never as something a browser would show."""
    job = served.run("head", "-c", "3000000", "/dev/urandom")
    answer = served.get(f"/api/jobs/{job}/artifact")
    assert hashlib.sha256(answer.content).digest() == hashlib.sha256(served.artifact(job).read_bytes()).digest()
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == f'attachment; filename="{job}.log"'


@pytest.mark.parametrize(
    ("asked", "status", "start", "end"),
    [
        ("bytes=0-9", 206, 0, 10),
        ("bytes=5-", 206, 5, 100),
        ("bytes=-7", 206, 93, 100),
        ("bytes=90-5000", 206, 90, 100),
        ("bytes=-5000", 200, 0, 100),
        ("bytes=9-5", 200, 0, 100),
        ("bytes=0-1,5-6", 200, 0, 100),
        ("lines=0-1", 200, 0, 100),
        ("bytes=-", 200, 0, 100),
    ],
)
def test_a_range_of_the_artifact(served, asked, status, start, end):
    """A range is honoured; one in a form that may be ignored gets everything."""
    job = served.run("sh", "-c", "printf %100s | tr ' ' x")
    answer = served.get(f"/api/jobs/{job}/artifact", headers={"Range": asked})
    assert (answer.status_code, len(answer.content)) == (status, end - start)
    if status == 206:
        assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/100"


def test_a_range_after_the_end_is_refused(served):
    """416, and how much there is."""
    job = served.run("echo", "x")
    answer = served.get(f"/api/jobs/{job}/artifact", headers={"Range": "bytes=2-"})
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */2")


def test_a_deleted_artifact_is_said_not_failed(served):
    """The job is still listed; its output is gone, and nothing else is."""
    job = served.run("echo", "here")
    assert texts(served.get(f"/api/jobs/{job}/rows")) == ["here"]
    served.artifact(job).unlink()
    assert served.get(f"/api/jobs/{job}/rows").json() == {"total": 0, "first": 0, "deleted": True, "rows": []}
    assert served.get(f"/api/jobs/{job}/find?text=here").json()["rows"] == []
    assert served.get(f"/api/jobs/{job}/text").text == ""
    refused = served.get(f"/api/jobs/{job}/artifact")
    assert (refused.status_code, "deleted" in refused.json()["error"]) == (404, True)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/sessions", {}),
        ("/api/sessions", {"argv": []}),
        ("/api/sessions", {"argv": [""]}),
        ("/api/sessions", {"argv": ["a"], "command": "a"}),
        ("/api/sessions", {"argv": "ls"}),
        ("/api/sessions", {"argv": ["a\0b"]}),
        ("/api/sessions", {"command": "  "}),
        ("/api/sessions", {"argv": ["ls"], "cwd": "/no/such/folder"}),
        ("/api/sessions", {"argv": ["ls"], "timeout": -1}),
        ("/api/sessions", {"argv": ["ls"], "shell": True}),
        ("/api/sessions", ["ls"]),
    ],
)
def test_a_bad_body_is_refused_and_says_why(served, path, body):
    """400 with an error for a person; nothing is started."""
    answer = served.post(path, body)
    assert answer.status_code == 400
    assert msgspec.json.decode(answer.content, type=ProblemBody).error


def test_a_body_that_is_no_json_or_far_too_long_is_refused(served):
    """The one is a mistake, the other is not even read."""
    assert served.client.post("/api/sessions", content=b"{not json").status_code == 400
    assert served.client.post("/api/sessions", content=b" " * 2_000_000).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/zzzzzz",
        "/api/sessions/..",
        "/api/sessions/zzzzzz/events",
        "/api/page?session=../../etc",
        "/api/jobs/zzzzzz-1",
        "/api/jobs/..%2f..%2fetc/rows",
        "/api/jobs/zzzzzz-1/artifact",
        "/api/jobs/r1-9999/rows",
        "/api/jobs/r7-1/text",
        "/api/jobs?before=zzzzzz-1",
        "/api/nothing",
    ],
)
def test_what_is_not_there_is_said_in_json(served, path):
    """404 for any id nobody knows, whatever it looks like."""
    answer = served.get(path)
    assert answer.status_code == 404
    assert msgspec.json.decode(answer.content, type=ProblemBody).error


@pytest.mark.parametrize("query", ["first=-1", "first=x", "count=1e3", "first=99999999999999999999"])
def test_a_parameter_that_is_no_number_is_refused(served, query):
    """It is said, not guessed at."""
    job = served.run("true")
    assert served.get(f"/api/jobs/{job}/rows?{query}").status_code == 400


def test_a_method_that_makes_no_sense_is_refused(served):
    """405, in JSON like everything else."""
    answer = served.client.delete("/api/sessions")
    assert (answer.status_code, answer.json()["error"]) == (405, "DELETE is not supported here")


def test_starting_in_a_session_that_is_over_says_what_to_do(served):
    """It cannot be gone on with here; a new one can be had."""
    session = served.run("true").rpartition("-")[0]
    wait_for(lambda: not list(served.home.glob(f"run/{session}.sock")))
    answer = served.post(f"/api/sessions/{session}/jobs", {"argv": ["true"]})
    assert (answer.status_code, answer.json()["hint"]) == (409, "start the command in a new session")


def test_a_recording_is_a_session_to_look_at(served):
    """Its calls have rows, text and search like any; it cannot be added to."""
    (listed,) = [
        session for session in served.get("/api/sessions").json()["sessions"] if session["kind"] == "recording"
    ]
    assert (listed["id"], listed["title"], listed["state"]) == ("r1", "bash_tool.jsonl", "ended")
    entries = served.get("/api/sessions/r1").json()["entries"]
    number = next(n for n, entry in enumerate(entries) if entry["type"] == "call")
    rows = served.get(f"/api/jobs/r1-{number}/rows")
    assert texts(rows) == entries[number]["content"].rstrip("\n").split("\n")
    assert served.get(f"/api/jobs/r1-{number}/text").text.splitlines() == texts(rows)
    assert served.get(f"/api/jobs/r1-{number}/find?text={texts(rows)[0][:4]}").json()["rows"][0] == 0
    assert served.post("/api/sessions/r1/jobs", {"argv": ["true"]}).status_code == 404


def test_ten_thousand_finished_jobs_are_listed_in_pages(tmp_path):
    """The list is the newest 200 and how many more; the rest is had page by page, each job once."""
    index = JobIndex(tmp_path / "jobs.jsonl")
    ids = [f"aaaa{'bcdefghjkm'[n % 10]}{'bcdefghjkm'[n // 10 % 10]}-{n // 100 + 1}" for n in range(10_000)]
    index.add(
        *(
            JobRecord(id=id, session=id[:6], command=f"job {n}", state="ok", exit_code=0, started=n + 1.0, duration=0.5)
            for n, id in enumerate(ids)
        )
    )
    with serving(tmp_path) as server:
        listed = server.get("/api/sessions").json()
        assert sum(len(session["jobs"]) for session in listed["sessions"]) == 200
        assert listed["more"] == 9800
        seen: list[str] = []
        more = True
        while more:
            before = f"&before={seen[-1]}" if seen else ""
            page = msgspec.json.decode(server.get(f"/api/jobs?limit=900{before}").content, type=JobList)
            seen += [job.id for job in page.jobs]
            more = page.more
        assert seen == ids[::-1]


def fits(value, schema, document) -> bool:
    """Whether a value is as a schema says: as much of JSON Schema as our document uses."""
    if "$ref" in schema:
        return fits(value, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    if "anyOf" in schema:
        return any(fits(value, option, document) for option in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        extra = schema.get("additionalProperties", True)
        return (
            isinstance(value, dict)
            and set(schema.get("required", [])) <= set(value)
            and all(
                fits(item, properties[name], document)
                if name in properties
                else bool(extra) and (extra is True or fits(item, extra, document))
                for name, item in value.items()
            )
        )
    if kind == "array":
        prefix = schema.get("prefixItems", [])
        return isinstance(value, list) and all(
            fits(item, prefix[n] if n < len(prefix) else schema.get("items") or {}, document)
            for n, item in enumerate(value)
        )
    python = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), None: object}
    return isinstance(value, python[kind])


def test_the_document_names_every_route_and_no_other(served, tmp_path):
    """What is described is what there is."""
    document = served.get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    described = {(path, method) for path, operations in document["paths"].items() for method in operations}
    routes = [route for route in routes_of(Api(Store(tmp_path), [], Secrets({}))) if route.path.startswith("/api/")]
    assert described == {(route.path, method.lower()) for route in routes for method in route.methods - {"HEAD"}}
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', served.get("/api/openapi.json").text))
    assert references <= set(document["components"]["schemas"])


def test_real_answers_are_as_the_document_says(served):
    """Every JSON answer there is, checked against its schema."""
    document = served.get("/api/openapi.json").json()
    job = served.run("sh", "-c", "printf '\\033[1;31mred\\033[0m\\n'; exit 1")
    session = job.rpartition("-")[0]
    asked = {
        "/api/openapi.json": "",
        "/api/sessions": "",
        "/api/search": "",
        "/api/agents": "",
        "/api/sessions/{id}": session,
        "/api/sessions/{id}/mail": session,
        "/api/jobs": "",
        "/api/jobs/{id}": job,
        "/api/jobs/{id}/rows": job,
        "/api/jobs/{id}/find": job,
    }
    for path, id in asked.items():
        answer = served.get(path.replace("{id}", id), params={"text": "red"} if path.endswith("find") else None)
        schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert fits(answer.json(), schema, document), path
    described = {
        p
        for p, o in document["paths"].items()
        if "application/json" in o.get("get", {"responses": {"200": {"content": {}}}})["responses"]["200"]["content"]
    }
    needs_an_agent = {f"/api/sessions/{{id}}/{name}" for name in ("requests/{request}", "mail/{mail}", "review")}
    assert described == set(asked) | needs_an_agent
    refused = served.get("/api/jobs/zzzzzz-9")
    problem = document["paths"]["/api/jobs/{id}"]["get"]["responses"]["404"]["content"]["application/json"]["schema"]
    assert fits(refused.json(), problem, document)
    assert not fits({"wrong": 1}, problem, document)
    msgspec.json.decode(served.get(f"/api/jobs/{job}/rows").content, type=RowsBody)


def test_a_folder_that_is_not_there_yet_is_an_empty_list(tmp_path: Path):
    """The first thing anybody does may be to serve."""
    with serving(tmp_path / "new") as server:
        assert server.get("/api/sessions").json() == {"sessions": [], "more": 0}


def test_both_lists_have_the_same_jobs(served):
    """By session and by time, nothing is in one that is not in the other."""
    jobs = {job["id"] for job in served.get("/api/jobs?limit=1000").json()["jobs"]}
    listed = {
        job["id"] for session in served.get("/api/sessions?limit=1000").json()["sessions"] for job in session["jobs"]
    }
    assert jobs == listed


def test_rows_text_and_search_show_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those the server knows, in what a command printed. The download is byte for byte."""
    key = "Kx7vQ2m/Zp9+Lw4TnB8sRd-3fGh6"
    monkeypatch.setenv("MY_API_KEY", key)
    with serving(tmp_path) as served:
        job = served.run("sh", "-c", f"printf 'one\\nkey={key[:9]}\\033[31m{key[9:]}\\n'; echo {key}")
        rows = served.get(f"/api/jobs/{job}/rows?first=0&count=10").text
        text = served.get(f"/api/jobs/{job}/text").text
        found = [
            served.get(f"/api/jobs/{job}/find", params={"text": words, "first": 0, "limit": 5}).json()["rows"]
            for words in (key[2:9], key[10:], "[secret my")
        ]
        raw = served.get(f"/api/jobs/{job}/artifact").text
    assert text == "one\nkey=[secret MY_API_KEY]\n[secret MY_API_KEY]\n"
    assert key[:6] not in rows
    assert found == [[], [], [1, 2]]
    assert key in raw
