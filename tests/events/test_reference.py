"""The page of events has every kind, and all it carries."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from sightline.events import Event
from sightline.events._vocabulary import Envelope, Usage

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text()
EVERYWHERE = {field.name for field in msgspec.structs.fields(Envelope)}
KINDS = {kind.__struct_config__.tag: kind for kind in get_args(Event)}
ROWS = {
    kind: carried
    for kinds, carried in re.findall(r"^\| (`[a-z_`, ]+`) \|.*?\|(.*)\|$", PAGE.partition("\n## ")[0], re.MULTILINE)
    for kind in re.findall(r"`(\w+)`", kinds)
}


def test_the_table_has_every_kind() -> None:
    """And none that is gone."""
    assert set(ROWS) == set(KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_row_has_the_fields_of_its_kind(kind: str) -> None:
    """What every event has is said once, above the table."""
    named = set(re.findall(r"`([a-z_]+)`", ROWS[kind]))
    fields = {field.encode_name for field in msgspec.structs.fields(KINDS[kind])} - EVERYWHERE
    assert fields <= named, fields - named


def test_the_counts_of_a_usage() -> None:
    """All of them are named."""
    assert [field.name for field in msgspec.structs.fields(Usage) if f"`{field.name}`" not in PAGE] == []
