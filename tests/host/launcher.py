"""Starts hosts on request, one a line, from a program without threads: loading once, forking often.

A request is a JSON list of argument lists, the commands of one session; the answer is the session's id.
"""

import asyncio
import json
import os
import sys

from sightline.exec import CommandSpec
from sightline.host import Start, connect, launch
from sightline.journal import Store
from sightline.paths import data_folder


async def start_more(session: str, specs: list[CommandSpec]) -> None:
    client = await connect(session)
    for spec in specs:
        assert (await client.submit(Start(spec))).ok
    client.close()


def main() -> None:
    store = Store(data_folder())
    for line in sys.stdin:
        specs = [CommandSpec(argv=tuple(argv)) for argv in json.loads(line)]
        session = launch(store, specs[0], cwd=os.getcwd())
        if specs[1:]:
            asyncio.run(start_more(session, specs[1:]))
        print(session, flush=True)


if __name__ == "__main__":
    main()
