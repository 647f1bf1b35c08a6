"""Definitions as files have them."""

from pathlib import Path

from sightline.delegation import AgentDefinition
from sightline.delegation.definitions._reading import DefinitionFile, read_definition


def definition(head: str, style: str = "sightline", body: str = "Do it.") -> tuple[AgentDefinition, list[str]]:
    """Read from front matter without `---`; a description is added where there is none."""
    head = head if "description" in head else f"description: What it is for\n{head}"
    file = DefinitionFile(Path("/agents/named.md"), "user", style)  # type: ignore[arg-type]
    return read_definition(file, f"---\n{head}\n---\n{body}".encode())


def write(path: Path, name: str = "", **fields: str) -> Path:
    """A file with a definition; without a name it is that of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"name: {name}"] * bool(name) + [f"{key}: {value}" for key, value in fields.items()]
    lines += [] if "description" in fields else [f"description: of {path.parent}"]
    path.write_text("\n".join(["---", *lines, "---", "Do it.", ""]))
    return path
