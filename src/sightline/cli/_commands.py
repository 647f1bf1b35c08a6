"""One function per command: arguments to calls. Imports happen inside, so a command pays only for itself."""

import argparse
import os

from sightline.cli._environment import current_folder, open_store, palette_of
from sightline.exceptions import UserMistake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.host import AnswerSchema, NativeRun, ProviderRun
    from sightline.providers import Approval, Provider
    from sightline.views.console.gallery._command import Mode
    from sightline.views.plain import Detail
    from sightline.views.plain.commands.run import OutputFormat


def prompt(arguments: argparse.Namespace) -> int:
    if arguments.prompt is None:
        from sightline.cli._agent_commands import open_console

        return open_console(arguments)
    if arguments.worktree is not None:
        from sightline.cli._worktree_commands import in_worktree

        return in_worktree(arguments, _run_prompt)
    return _run_prompt(arguments)


def _run_prompt(arguments: argparse.Namespace) -> int:
    session, provider_name = _resumed(arguments)
    if session:
        from sightline.cli._agent_commands import go_where_it_worked

        go_where_it_worked(session)
    if provider_name == "native":
        return _prompt_native(arguments, session)
    return _prompt_provider(arguments, session, provider_name)


def _resumed(arguments: argparse.Namespace) -> tuple[str, str]:
    """The session of ours that is resumed, empty for a new one, and its provider, which never changes."""
    named = arguments.provider
    if arguments.resume is True:
        from sightline.cli._agent_commands import no_session_named

        raise no_session_named("--resume ID")
    if not arguments.latest and not arguments.resume:
        return "", named or "native"
    from sightline.cli._agent_commands import resumed
    from sightline.host import conversation_in, last_conversation

    store, cwd = open_store(), current_folder()
    if named in (None, "native"):
        session = resumed(arguments, store, cwd)
        return session, named or conversation_in(store, session).provider or "native"
    if arguments.latest:
        return last_conversation(store, str(cwd), named), named
    try:
        return store.find_conversation(arguments.resume, str(cwd)), named
    except UserMistake:  # an id of the provider's own
        return last_conversation(store, str(cwd), named, arguments.resume), named


def _prompt_provider(arguments: argparse.Namespace, session: str, name: str) -> int:
    from sightline.providers import ProviderPrompt, get_provider, start_run

    provider = get_provider(name)
    _check_limits(arguments, provider)
    text, schema = _prompt_text(arguments), _schema(arguments)
    if arguments.latest and not session:
        from sightline.cli._agent_commands import NOTHING_TO_CONTINUE

        raise UserMistake(f"no conversation with {provider.title} in this folder", NOTHING_TO_CONTINUE)
    resume = _native_id(arguments, session, name)
    output_format: OutputFormat = "json" if provider.source is None else arguments.output_format
    if ignored := [f"--{name}" for name in ("allow", "deny") if getattr(arguments, name)]:
        _note(f"not used: {', '.join(ignored)}; {provider.title} has its own rules", "change them there")
    request = ProviderPrompt(
        prompt=text if schema is None else schema.prompt_with(text),
        model=arguments.model,
        resume=resume,
        approval=arguments.approval or _level_left(session, provider),
        timeout=arguments.timeout,
        options=options_of(arguments.option),
        raw=output_format == "json",
    )
    run = start_run(provider, request)
    from sightline.cli._agent_commands import limits_of
    from sightline.host import ProviderRun

    limits = limits_of(arguments)
    recorded = ProviderRun(open_store(), provider, request, run, session=session, limits=limits, schema=schema)
    return _shown(recorded, output_format, arguments, schema)


def _check_limits(arguments: argparse.Namespace, provider: "Provider") -> None:
    """What cannot be enforced is refused before anything is started."""
    given = [name for name in ("max-turns", "max-cost", "json-schema") if getattr(arguments, name.replace("-", "_"))]
    if given and (provider.source is None or arguments.output_format == "json"):
        hint = "use --output-format events: json passes the provider's own lines on, unread"
        raise UserMistake(f"--{given[0]} cannot be used with --output-format json and {provider.title}", hint)
    if given and given != ["json-schema"] and not provider.counts_turns:
        text = f"--{given[0]} cannot be enforced: {provider.title} does not report its turns while it works"
        raise UserMistake(text, "use --timeout, or another provider")


def _schema(arguments: argparse.Namespace) -> "AnswerSchema | None":
    if arguments.json_schema is None:
        return None
    from sightline.host import read_schema

    return read_schema(arguments.json_schema)


def _level_left(session: str, provider: "Provider") -> "Approval":
    """A session that is resumed without a level gets none that allows more than it had."""
    if not session:
        return "auto"
    from sightline.host import level_left_in

    level = level_left_in(open_store(), session, provider)
    if level != "auto":
        _note(f"the approval level is {level}, as this session was left", "--approval names another one")
    return level


def _note(text: str, hint: str) -> None:
    from sightline.text import message

    os.write(2, message("note", text, hint).encode())


def _native_id(arguments: argparse.Namespace, session: str, provider: str) -> str:
    """What the provider itself calls the conversation."""
    if not session:
        return str(arguments.resume or "")
    from sightline.host import native_id

    store = open_store()
    if store.is_running(session):
        hint = f"watch it with `sightline attach {session}`, or fork it with `sightline fork {session}`"
        raise UserMistake(f"session {session} is running", hint)
    return native_id(store, session, provider)


def _prompt_native(arguments: argparse.Namespace, session: str) -> int:
    from sightline.cli._main import without_collecting

    text, schema = _prompt_text(arguments), _schema(arguments)
    with without_collecting():
        from sightline.cli._agent_commands import prompt_native

        run = prompt_native(arguments, text, session, schema)
    return _shown(run, arguments.output_format, arguments, schema)


def _prompt_text(arguments: argparse.Namespace) -> str:
    from sightline.views.plain.commands.piped import read_piped

    text = read_piped(arguments.prompt)
    if not text.strip():
        raise UserMistake("the prompt is empty", "write it after -p, or pipe it in")
    return text


def _shown(
    run: "NativeRun | ProviderRun",
    output_format: "OutputFormat",
    arguments: argparse.Namespace,
    schema: "AnswerSchema | None",
) -> int:
    """What only showing needs is imported here, while the provider's own program is already starting."""
    from sightline.host import ProviderRun
    from sightline.views.plain import EVERYTHING, PlainRenderer, columns_of
    from sightline.views.plain.commands.run import Farewell, show_answer, show_run

    detail = EVERYTHING if arguments.verbose and not isinstance(run, ProviderRun) else _detail(arguments)
    shown_on = 2 if schema is not None and output_format == "text" else 1  # the answer alone is on stdout
    renderer = PlainRenderer(detail, palette_of(arguments, shown_on), columns_of(shown_on))
    farewell = Farewell(
        open_store().has_conversation,
        timeout=arguments.timeout,
        sums=arguments.verbose,
        palette=palette_of(arguments, 2),
        names_timeout=not isinstance(run, ProviderRun),
    )
    if schema is None or output_format != "text":
        return show_run(run, renderer, output_format, farewell)
    return show_answer(run, renderer, farewell, lambda: schema.answer, steps=arguments.verbose)


def view(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import PlainRenderer
    from sightline.views.plain.commands.recorded import show_recording

    renderer = PlainRenderer(_detail(arguments), palette_of(arguments))
    return show_recording(_opened(arguments.file), _provider(arguments), renderer, out=1, err=2)


def events(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.recorded import write_events

    write_events(_opened(arguments.file), _provider(arguments), out=1)
    return 0


def flow_run(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import Detail, PlainRenderer, columns_of
    from sightline.views.plain.commands.flow import detach_flow, read_flow, show_flow

    store, start = open_store(), read_flow(arguments.file, arguments.input, str(current_folder()))
    if arguments.detach:
        return detach_flow(store, start, palette_of(arguments, 2))
    detail = Detail(calls=arguments.verbose, agents=True, steps=True, output=arguments.verbose)
    renderer = PlainRenderer(detail, palette_of(arguments), columns_of(1))
    return show_flow(store, start, renderer, events=arguments.output_format == "events")


def flow_check(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.flow import show_check

    text, code = show_check(arguments.file)
    write_text(1, text)
    return code


def models(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.models import show_models

    query, palette = " ".join(arguments.query), palette_of(arguments)
    shown = show_models(current_folder(), os.environ, query, palette, remote=arguments.remote, json=arguments.json)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return shown.exit_code


def agents(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_text
    from sightline.views.plain.commands.definitions.agents import show_agents

    name, width = getattr(arguments, "name", ""), columns_of(1)
    shown = show_agents(current_folder(), os.environ, name, palette_of(arguments), width, json=arguments.json)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return 0


def skills(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_text
    from sightline.views.plain.commands.definitions.skills import show_skills

    shown = show_skills(current_folder(), os.environ, palette_of(arguments), columns_of(1), json=arguments.json)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return 0


def slash_commands(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_text
    from sightline.views.plain.commands.definitions.slash_commands import show_commands

    shown = show_commands(current_folder(), os.environ, palette_of(arguments), columns_of(1), json=arguments.json)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return 0


def new_agent(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import write_text
    from sightline.views.plain.commands.definitions.agents import write_agent

    shown = write_agent(current_folder(), os.environ, arguments.name, project=arguments.project)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import columns_of, write_text
    from sightline.views.plain.commands.doctor import show_doctor, show_removed_leftovers

    palette, columns = palette_of(arguments), columns_of(1)
    if arguments.remove_leftovers:
        text, code = show_removed_leftovers(palette, columns)
    else:
        text, code = show_doctor(current_folder(), os.environ, palette, columns)
    write_text(1, text)
    return code


def demo(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.demo import play_recordings, run_demo

    palette = palette_of(arguments)
    if arguments.what == "agent" and not arguments.fast and os.isatty(0) and os.isatty(1):
        from sightline.views.console._demo import run_demo as run_in_console

        return run_in_console()
    if arguments.what == "agent":
        return run_demo(palette, paced=not arguments.fast)
    play_recordings(palette, out=1, paced=not arguments.fast)
    return 0


def gallery(arguments: argparse.Namespace) -> int:
    from sightline.views.console import show_gallery

    mode: Mode = "print" if arguments.print else "list" if arguments.list else "browse"
    look, depth = arguments.theme, arguments.colours
    return show_gallery(mode, arguments.names, width=arguments.width, look=look, depth=depth)


def completion(arguments: argparse.Namespace) -> int:
    from importlib.resources import files

    from sightline.views.plain import write_all

    write_all(1, (files("sightline.cli") / "completions" / f"sightline.{arguments.shell}").read_bytes())
    return 0


def _detail(arguments: argparse.Namespace) -> "Detail":
    from sightline.views.plain import VERBOSE, WORDS

    return VERBOSE if arguments.verbose else WORDS


def _provider(arguments: argparse.Namespace) -> "Provider | None":
    if arguments.provider is None:
        return None
    from sightline.providers import get_provider

    return get_provider(arguments.provider)


def _opened(path: str) -> int:
    if path != "-":
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    if os.isatty(0):
        raise UserMistake("nothing to read: stdin is a terminal", "name a file, or pipe a provider's stream in")
    return 0


def options_of(pairs: list[str]) -> dict[str, object]:
    """NAME=VALUE pairs; a value that is JSON is taken as such, anything else as text."""
    options: dict[str, object] = {}
    for pair in pairs:
        import json

        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UserMistake(f"not an option: {pair}", "write --option NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options
