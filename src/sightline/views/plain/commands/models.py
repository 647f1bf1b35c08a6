"""`sightline models`: what our own agent can use, and what each role means."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sightline.models import UsableModel, usable
from sightline.settings import load
from sightline.text import clean_line, clean_value, without_credentials
from sightline.views.plain._output import pretty_json
from sightline.views.plain._palette import Palette
from sightline.views.plain._table import Column, draw_table

_UNKNOWN = "–"
_NOTHING = """\
no model can be used here
hint: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY,
      start a model server on this machine (Ollama, llama.cpp, vLLM, LM Studio),
      or name one of your own in the settings: [models.servers.NAME]
"""
_HEAD = ("model", "reads", "writes", "$ in", "$ out", "images", "thinks", "found by")
_RIGHT = {1, 2, 3, 4}


class ModelsOutput(msgspec.Struct, frozen=True):
    text: str
    notes: str
    exit_code: int


def show_models(
    cwd: Path, environ: Mapping[str, str], query: str, palette: Palette, *, remote: bool, json: bool
) -> ModelsOutput:
    listing = usable(load(cwd).settings, environ, query, remote=remote)
    notes = without_credentials("".join(f"note: {clean_line(note)}\n" for note in listing.notes))
    exit_code = 0 if listing.models else 1
    if json:
        models = [replace(model, found=without_credentials(model.found)) for model in listing.models]
        facts = clean_value(msgspec.to_builtins(models))
        return ModelsOutput(pretty_json(facts).decode(), notes, exit_code)
    if listing.models:
        return ModelsOutput(_table(listing.models, palette), notes, exit_code)
    return ModelsOutput(f"no model has {clean_line(query)} in its name\n" if query else _NOTHING, notes, exit_code)


def _table(models: list[UsableModel], palette: Palette) -> str:
    columns = [Column(name, right=at in _RIGHT) for at, name in enumerate(_HEAD)]
    head, *rows = draw_table(columns, [_cells(model) for model in models], palette, None)
    roles = [f"  {palette.good}● {', '.join(model.roles)}{palette.reset}" if model.roles else "" for model in models]
    return "".join(f"{line}\n" for line in (head, *map(str.__add__, rows, roles)))


def _cells(model: UsableModel) -> tuple[str, ...]:
    return (
        clean_line(model.name),
        _tokens(model.context),
        _tokens(model.max_output),
        _dollars(model.price_in),
        _dollars(model.price_out),
        _yes_or_no(model.images),
        _yes_or_no(model.thinking),
        clean_line(without_credentials(model.found)),
    )


def _tokens(number: int | None) -> str:
    if number is None:
        return _UNKNOWN
    return f"{number / 1_000_000:.3g}M" if number >= 1_000_000 else f"{round(number / 1000)}K"


def _dollars(price: float | None) -> str:
    return _UNKNOWN if price is None else f"{price:.2f}"


def _yes_or_no(fact: bool | None) -> str:
    return _UNKNOWN if fact is None else "yes" if fact else "no"
