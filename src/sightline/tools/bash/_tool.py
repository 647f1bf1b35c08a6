"""`bash`: run a command in the workspace, live; in the foreground, or as a job.

Rules:

- It runs sandboxed, with an environment that has no secrets in it. A call that leaves the sandbox needs a rule or the
  user's approval. A rule is not enough where a word of it means a program in the workspace, by the user's PATH: a
  sandboxed command may have put it there.
- Its output is shown as it comes and stored whole. The model gets the last 50 KB and where the rest is.
- A call that is cancelled ends the command and everything it started; what it wrote until then is its result.
- As a job (requested, or because it takes long) it outlives the call: the result says how to wait for it. Where no more
  jobs may run, a requested one is not begun, and a command that takes long is waited for.
- It starts in the folder the last one ended in, with what that exported: see `_shell_state`.
"""

import asyncio
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import msgspec
from msgspec import Meta

from sightline.actors import RunningCommand
from sightline.events import CallEnding, CommandFact, ToolResult, call_ending
from sightline.exceptions import OutsideFailure
from sightline.exec import (
    CommandSpec,
    Jobs,
    SandboxSpec,
    UntrustedProgram,
    filtered_environment,
    find_program,
    passed_variables,
    planted_programs,
    sandbox_status,
    sockets_in,
    unprotected,
)
from sightline.exec.gateway import Entrance
from sightline.handles import real_path
from sightline.text import OutputScreen, after_sequence, clean_line, clean_output, clean_text, cut_graphemes, row_text
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Need, Outcome, Tool, ToolError
from sightline.tools._truncation import MAX_BYTES, truncate_tail
from sightline.tools.bash._shell_state import ShellReport, ShellState, change_text, may_change_state
from sightline.tools.files._paths import display, read_need, reason_of, resolve

_SECONDS_BEFORE_TIMEOUT = 1.0
_LABEL_AT_MOST = 120
_EXPOSED_SHOWN = 4
_TAIL = 2 * MAX_BYTES  # bytes: more than is shown, so that what is shown begins with a whole line
_LOOK_BACK = 512 * 1024  # bytes, where a program wrote over its own lines: of many little is left
_LITTLE = 16 * 1024  # characters that are interpreted at once; more are in a thread, however they are made
_OVERWRITES = 50  # of one line that are looked at; what was there before is long gone from sight
_between_words = re.compile(r"[\s;&|()<>`$\"'{}=\\]+")
# For programs that would page or prompt, were a user watching.
_UNATTENDED = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "DEBIAN_FRONTEND": "noninteractive"}


class ResultText(NamedTuple):
    """What the model reads."""

    text: str
    ending: Sequence[str] = ()  # lines of it about how the command ended
    cut: bool = False  # it has the end of the output alone


class BashParams(msgspec.Struct, frozen=True, kw_only=True):
    command: Annotated[str, Meta(min_length=1, description="The command line, for bash.")]
    timeout: Annotated[float, Meta(gt=0, description="Seconds after which it is ended.")] | None = None
    cwd: Annotated[
        str, Meta(description="The folder to run it in; else the one the last command ended in, or the working folder.")
    ] = ""
    background: Annotated[
        bool, Meta(description="Start it as a job and return at once; use `job` to wait for it or end it.")
    ] = msgspec.field(default=False, name="async")
    sandbox: Annotated[
        bool,
        Meta(description="false: run it outside the sandbox (network, other folders). Needs the user's approval."),
    ] = True


class BashTool(Tool[BashParams]):
    name = "bash"
    description = (
        "Run a command with bash and get what it prints and its exit code. Unless the user set it otherwise it runs "
        "in a sandbox: it can write below the working folder only, and reaches the network through a proxy that its "
        "environment names (HTTP_PROXY and the like): the user is asked about each new host, or rules allow it. "
        "Servers of commands that run at the same time reach each other on localhost. It gets no input. Use `read`, "
        "`search`, `find`, `edit` and `write` instead of cat, grep, ls, sed and echo where they do the job. `cd` "
        "within the working folder and exported variables last for the next commands; the result says so. Output is "
        "cut to its last 50 KB; the whole of it is stored as an artifact you can `read`. Long-running commands: pass "
        "async: true."
    )
    params = BashParams
    lasting: ClassVar[bool] = True
    """`cd` and exports last for the next commands, and a command that takes long becomes a job."""

    def needs(self, params: BashParams, context: ToolContext) -> list[Need]:
        folder = self._folder(params, context)
        context.shared(ShellState).judge(context.call, folder)
        sandboxed = self._is_sandboxed(params, context)
        why = "" if sandboxed or params.sandbox else "the call asks to run outside the sandbox"
        reads = read_need(folder, context.cwd) if folder != context.cwd else []
        exposed = unprotected(str(context.cwd)) if sandboxed else ()
        why = why or _what_is_exposed(exposed)
        passed = passed_variables(os.environ, context.settings.permissions.pass_env, sandboxed=sandboxed)
        planted = () if sandboxed else self._planted(params, context, folder)
        return [
            *reads,
            Need("exec", params.command, sandboxed, why, exposed, passed=passed, where=str(folder), planted=planted),
        ]

    def _planted(self, params: BashParams, context: ToolContext, folder: Path) -> tuple[str, ...]:
        """Empty where there is no sandbox: then any command may write anywhere, and its rules are all there is."""
        if not context.workplace.limits().sandbox or sandbox_status().kind == "none":
            return ()
        return planted_programs(_words_of(params.command), os.environ.get("PATH", os.defpath), str(folder))

    def preview(self, params: BashParams) -> str:
        return params.command

    async def execute(self, params: BashParams, context: ToolContext) -> Outcome:
        if context.start is None:
            raise ToolError("commands cannot be run here")
        folder = context.shared(ShellState).judged(context.call) or self._folder(params, context)
        jobs = self._jobs(params, context)
        report = self._report(params, context)
        try:
            return await self._run(params, context, folder, jobs, report)
        finally:
            if report is not None and not report.passed_on:
                report.close()

    async def _run(
        self, params: BashParams, context: ToolContext, folder: Path, jobs: Jobs | None, report: ShellReport | None
    ) -> Outcome:
        spec = await self._spec(params, context, folder, report)
        assert context.start is not None
        command = context.start(spec)
        if params.background:
            assert jobs is not None
            return await self._as_job(command, jobs, spec, params, context, "started in the background")
        patience = self._patience(spec, context) if jobs is not None else None
        result = await _waited(command, jobs, patience)
        if result is None:
            assert jobs is not None
            why = f"still running after {patience:g} s"
            return await self._as_job(command, jobs, spec, params, context, why, report)
        details = {**result.details, **_facts(spec)}
        if folder != context.cwd:
            details["cwd"] = display(folder, context.cwd)
        text, ending, cut = await _result_text(command, result, spec)
        details |= {"told": list(ending), **({"cut": True} if cut else {})}
        if self._persists(context) and call_ending(result.details).ended == "exit":
            trusted = spec.sandbox is None or bool(spec.passed)
            other = self._other_shell(context) if may_change_state(params.command) else ""
            if change := context.shared(ShellState).update(report, context, trusted=trusted, other_shell=other):
                details["shell"] = msgspec.to_builtins(change)
                text = f"{text}\n{change_text(change)}"
        return Outcome(text=text, details=details, is_error=result.exit_code != 0, exit_code=result.exit_code)

    def _report(self, params: BashParams, context: ToolContext) -> ShellReport | None:
        """The shell's report of what it changes; None where it cannot report, or changes nothing."""
        persists = self._persists(context) and not self._other_shell(context) and not params.background
        return ShellReport() if persists and may_change_state(params.command) else None

    def _persists(self, context: ToolContext) -> bool:
        return self.lasting and context.settings.bash.persist_state

    def _other_shell(self, context: ToolContext) -> str:
        """The name of the shell where it is not bash."""
        name = os.path.basename(_shell(context.settings.bash.shell))
        return "" if name == "bash" else clean_line(name)

    async def _as_job(
        self,
        command: RunningCommand,
        jobs: Jobs,
        spec: CommandSpec,
        params: BashParams,
        context: ToolContext,
        why: str,
        report: ShellReport | None = None,
    ) -> Outcome:
        job = command.become_job()
        if spec.sandbox is not None and spec.sandbox.entrance is not None:
            spec.sandbox.entrance.become(job)
        label = cut_graphemes(clean_line(params.command.strip()), _LABEL_AT_MOST)
        if report is not None:
            report.passed_on = True
        jobs.register("bash", label, lambda: _work(command, spec, report), owner=context.agent, id=job)
        details = CommandFact(ended="job", job=job, artifact=command.artifact).as_details(**_facts(spec))
        return Outcome(text=await _begun_text(command, job, why), details=details)

    def _jobs(self, params: BashParams, context: ToolContext) -> Jobs | None:
        """Where a job of this call would be registered; None when it cannot become one."""
        jobs, settings = context.workplace.jobs, context.settings
        available = jobs is not None and settings.jobs.enabled
        if params.background and not available:
            raise ToolError("background jobs are disabled here (jobs.enabled); run it without async")
        if params.background and jobs is not None and jobs.full:
            raise ToolError(
                f"{settings.jobs.max_jobs} background jobs are running, which is the maximum; wait for one "
                "of them to end or cancel one (job), or run it without async"
            )
        if params.background or (self.lasting and settings.bash.auto_background):
            return jobs if available else None
        return None

    def _patience(self, spec: CommandSpec, context: ToolContext) -> float:
        threshold = context.settings.bash.auto_background_ms / 1000
        assert spec.timeout is not None
        return max(0.0, min(threshold, spec.timeout - _SECONDS_BEFORE_TIMEOUT))

    async def _spec(
        self, params: BashParams, context: ToolContext, folder: Path, report: ShellReport | None
    ) -> CommandSpec:
        settings = context.settings
        timeout = min(params.timeout or settings.bash.timeout, settings.bash.max_timeout)
        sandbox, sandboxed = None, self._is_sandboxed(params, context)
        named = (*settings.permissions.pass_env, *context.passed)
        passed = passed_variables(os.environ, named, sandboxed=sandboxed)
        if sandboxed:
            sandbox = SandboxSpec(
                workspace=str(context.cwd),
                network=settings.permissions.sandbox_network,
                sockets=sockets_in(os.environ, passed),
                read_only=context.workplace.limits().read_only,
                entrance=await self._entrance(params, context, folder),
            )
        env = filtered_environment(os.environ, passed=passed, sandboxed=sandboxed)
        if self._persists(context):
            env |= context.shared(ShellState).variables(context, trusted=not sandboxed or bool(passed))
        env |= _UNATTENDED
        return CommandSpec(
            argv=(_shell(settings.bash.shell), "-c", params.command),
            cwd=str(folder),
            exact_cwd=sandbox is None and folder != context.cwd,
            env=env if report is None else report.environment(env),
            timeout=None if params.background and params.timeout is None else timeout,
            sandbox=sandbox,
            passed=passed,
            descriptors=report.descriptors if report is not None else (),
        )

    async def _entrance(self, params: BashParams, context: ToolContext, folder: Path) -> Entrance | None:
        """Into the network that rules and the user decide on; None: all of it is open, or there is none here."""
        gateway = context.workplace.gateway
        if gateway is None or context.settings.permissions.sandbox_network or sandbox_status().kind != "bubblewrap":
            return None
        where = params.cwd or (display(folder, context.cwd) if folder != context.cwd else "")
        args = {"command": params.command, **({"cwd": where} if where else {})}
        return await gateway.enter(context.call, args)

    def _is_sandboxed(self, params: BashParams, context: ToolContext) -> bool:
        return params.sandbox and context.workplace.limits().sandbox and sandbox_status().kind != "none"

    def _folder(self, params: BashParams, context: ToolContext) -> Path:
        """Where it leads now: what is judged is where it runs."""
        folder = self._named_folder(params, context)
        return folder if folder == context.cwd else Path(real_path(folder))

    def _named_folder(self, params: BashParams, context: ToolContext) -> Path:
        if not params.cwd:
            return context.shared(ShellState).folder(context) if self._persists(context) else context.cwd
        folder = resolve(params.cwd, context.cwd)
        try:
            mode = os.stat(folder).st_mode
        except OSError as problem:
            raise ToolError(f"Cannot run in {params.cwd}: {reason_of(problem)}.") from None
        if not stat.S_ISDIR(mode):
            raise ToolError(f"Cannot run in {params.cwd}: it is not a folder.")
        return folder


class SeparateBash(BashTool):
    """For commands the model did not choose: each begins in the working folder, is waited for to its end, and changes
    nothing for the next ones of the agent."""

    lasting = False


def _words_of(command: str) -> list[str]:
    """All that may name a program, as written and as a shell reads it without quotes. More than are run: that only
    makes approval requests more frequent."""
    unquoted = re.sub(r"\\\n|['\"\\]", "", command)
    words = {word for text in (command, unquoted) for word in _between_words.split(text)}
    return sorted(word for word in words if word and "/" not in word)


def _facts(spec: CommandSpec) -> Details:
    """How it runs, for views."""
    return {"sandboxed": spec.sandbox is not None, **({"passed": list(spec.passed)} if spec.passed else {})}


async def _waited(command: RunningCommand, jobs: Jobs | None, patience: float | None) -> ToolResult | None:
    """Its result, or None when it takes so long that it should continue as a job."""
    try:
        try:
            return await asyncio.wait_for(command.wait(), patience)
        except TimeoutError:
            if jobs is None or not jobs.full:
                return None
            return await command.wait()
    except asyncio.CancelledError:
        command.cancel()
        return await command.wait()


async def _work(command: RunningCommand, spec: CommandSpec, report: ShellReport | None) -> str:
    """The work of the job. When it is cancelled, what the command wrote until then is still the result."""
    try:
        result = await command.wait()
    except asyncio.CancelledError:
        command.cancel()
        return (await _result_text(command, await command.wait(), spec)).text
    finally:
        if report is not None:
            report.close()
    if call_ending(result.details).ended == "cancelled":  # not through the job
        raise asyncio.CancelledError
    text, _, _ = await _result_text(command, result, spec)
    if result.exit_code != 0:
        raise OutsideFailure(text)
    return text


async def _result_text(command: RunningCommand, result: ToolResult, spec: CommandSpec) -> ResultText:
    found = await _output_text(command, result)
    if call_ending(result.details).ended != "exit" or result.exit_code == 0:
        return found
    from sightline.tools.bash._blocked import sandbox_hint, withheld_hint

    limits = sandbox_hint(found.text, spec.sandbox) if spec.sandbox is not None else ""
    withheld = withheld_hint(spec.argv[-1], found.text, os.environ.keys() - (spec.env or {}).keys())
    text = "\n".join([part for part in (found.text, limits, withheld) if part])
    return found._replace(text=text, ending=[*found.ending, *([limits] if limits else [])])


def _shell(chosen: str) -> str:
    """The one from the settings, else bash from where no command can have put it."""
    try:
        return chosen or find_program("bash") or "/bin/sh"
    except UntrustedProgram:
        return "/bin/sh"


def _what_is_exposed(paths: Sequence[str]) -> str:
    """The reason in an approval request for a command that could change what the sandbox should protect."""
    if not paths:
        return ""
    shown = ", ".join(clean_line(path) for path in paths[:_EXPOSED_SHOWN])
    more = f" and {len(paths) - _EXPOSED_SHOWN} more" if len(paths) > _EXPOSED_SHOWN else ""
    kind = sandbox_status().kind
    if kind == "landlock":
        return f"Landlock cannot protect {shown}{more} from it; install bubblewrap to avoid this question"
    return f"the sandbox cannot protect {shown}{more} from it: a link, a hard-linked file, or an unreadable one"


async def _output_text(command: RunningCommand, result: ToolResult) -> ResultText:
    """The end of the output, and how the command ended."""
    found = call_ending(result.details)
    if found.ended == "spawn":
        return ResultText(result.content)
    ending = _ending(result, found)
    shown, cut = await _output(command) if not found.binary else ("", False)
    nothing = f"(binary output, {found.bytes or 0} bytes: {command.artifact})" if found.binary else "(no output)"
    lost = "" if found.binary else _not_stored(found)
    text = "\n".join([part for part in (shown or nothing, lost, ending) if part])
    return ResultText(text, [line for line in ("" if shown else nothing, ending) if line], cut)


async def _begun_text(command: RunningCommand, job: str, why: str) -> str:
    so_far, _ = await _output(command)
    lines = [
        f"Background job {job}: {why}. A message reports its end.",
        f'Wait for it with job {{"poll": ["{job}"]}}, end it with job {{"cancel": ["{job}"]}}; '
        f"what it writes: {command.artifact}",
    ]
    return "\n".join([*lines, *(["Output so far:", so_far] if so_far else [])])


def settled(text: str) -> str:
    """Lines as a terminal would have left them where a program wrote over its own line again and again."""
    if "\r" in text or "\b" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join([_overwritten(line) if "\r" in line or "\b" in line else line for line in lines])
    return clean_text(text)


def _ending(result: ToolResult, found: CallEnding) -> str:
    match found.ended:
        case "timeout":
            return f"[{result.content}, exit code {result.exit_code}; everything it had started was ended]"
        case "cancelled":
            return "[cancelled; what it had done by then is not undone]"
        case _ if found.signal:
            return f"[ended by signal {found.signal}, exit code {result.exit_code}]"
        case _:
            return f"[exit code {result.exit_code}]" if result.exit_code else ""


def _not_stored(found: CallEnding) -> str:
    stored, size = found.stored or 0, found.bytes or 0
    return f"[only the first {stored} of {size} bytes could be stored; the rest is lost]" if stored < size else ""


async def _output(command: RunningCommand) -> tuple[str, bool]:
    """What it wrote, and whether that is only the end of it."""
    looked = _TAIL
    raw, size = command.tail(looked)
    if size > looked and ("\r" in raw or "\b" in raw):
        looked = _LOOK_BACK
        raw, size = command.tail(looked)
    if "\0" in raw:
        return f"(binary output so far, {size} bytes)", False
    if size > looked:  # the rest of a line is of little use, and may be the end of a secret that is not recognised
        raw = raw.partition("\n")[2] or after_sequence(raw)
    cut = truncate_tail(settled(raw) if len(raw) <= _LITTLE else await asyncio.to_thread(settled, raw))
    if size <= looked and not cut.truncated:
        return cut.text.rstrip("\n"), False
    head = f"[the last {cut.shown_lines} lines, {cut.shown_bytes} of {size} bytes; all of it: {command.artifact}]"
    return f"{head}\n{cut.text}".rstrip("\n"), True


def _overwritten(line: str) -> str:
    screen = OutputScreen(height=1)
    screen.feed(clean_output("\r".join(line.split("\r")[-_OVERWRITES:])))
    screen.finish()
    return "".join([row_text(row) for row in screen.take_settled()])
