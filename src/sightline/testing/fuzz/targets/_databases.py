"""SQLite files and questions made by others: answered within bounds or refused in words, and nothing is changed."""

import shutil
import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from sightline.testing.fuzz._mutation import joined, mutated
from sightline.testing.fuzz._target import hold
from sightline.tools import sqlite
from sightline.tools._tool import ToolError

_QUESTIONS = [
    "", ":people", ":people:1", ":people:zzz", ":people?where=id>1", ":people?order=name:desc&limit=2", ":old",
    "?q=SELECT * FROM people",
    ":people?where=1 UNION SELECT 1", "?q=DELETE FROM people", "?q=ATTACH '/tmp/x.db' AS x",
    "?q=PRAGMA writable_schema=1",
    "?q=SELECT load_extension('/tmp/x')",
    "?q=WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r LIMIT 100000) SELECT count(*) FROM r",
    "?q=SELECT writefile('/tmp/x','y')", "?q=VACUUM INTO '/tmp/x'", "?q=SELECT zeroblob(1000000000)",
    "?q=SELECT 1; DROP TABLE people",
    ":people?where=name='a' --", ":people?where=(", ":sqlite_master", ":\x1b]0;x\x07",
    ":people?limit=99999999999999999999&offset=-1",
]  # fmt: skip
_WORDS = [
    "?",
    "&",
    "=",
    "where",
    "q",
    "order",
    "limit",
    ":",
    "'",
    '"',
    "(",
    ")",
    ";",
    "--",
    "/*",
    "%",
    "SELECT ",
    "1",
    "x",
    "people",
    "\0",
    "\n",
    "é",
]


class Databases:
    name = "databases"

    def open(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sightline-fuzz-"))

    def close(self) -> None:
        shutil.rmtree(self._folder)

    def make(self, random: Random) -> tuple[bytes, str]:
        data = _sample()
        if random.random() < 0.7:
            data = mutated(random, data)
            if random.random() < 0.7:  # a head that is right leads further in
                data = _sample()[:16] + data[16:]
        question = random.choice(_QUESTIONS)
        if random.random() < 0.3:
            question += joined(random, _WORDS, 6)
        return data, question

    def check(self, given: tuple[bytes, str]) -> None:
        data, question = given
        path = self._folder / "a.db"
        path.write_bytes(data)
        try:
            reading = sqlite.read(path, sqlite.parse_selection(question.removeprefix(":")))
            hold(len(reading.text) < 2_000_000, "an answer without bounds")
        except ToolError:
            pass
        hold(path.read_bytes() == data, "the database was changed")
        hold([entry.name for entry in self._folder.iterdir()] == [path.name], "something was written beside it")
        path.unlink()


@cache
def _sample() -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        connection = sqlite3.connect(file.name)
        connection.execute("PRAGMA page_size=512")
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, photo BLOB)")
        connection.execute("CREATE INDEX by_name ON people(name)")
        connection.execute("CREATE VIEW old AS SELECT * FROM people WHERE id < 3")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [(n, f"name {n}", bytes(20)) for n in range(30)])
        connection.commit()
        connection.close()
        return Path(file.name).read_bytes()
