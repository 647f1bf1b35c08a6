"""A text for a file in which placeholders became secret values again, and the notes about that."""

import msgspec

from sightline.events import SecretsInFile

PLACEHOLDER = "[secret "  # how what stands for a secret value begins


class RestoredText(msgspec.Struct, frozen=True):
    """A text for a file, in which what stood for secret values may be these again. By their names: the values that are,
    and those that are not, because nothing it replaces held them: there the words stay as they are."""

    text: str
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def in_file(self) -> SecretsInFile | None:
        """For views; None when no value is concerned."""
        known = self.restored or self.left
        return SecretsInFile(list(self.restored), list(self.left)) if known else None

    @property
    def about(self) -> str:
        """For the approval dialog."""
        return f"secret values are restored: {', '.join(dict.fromkeys(self.restored))}" if self.restored else ""

    @property
    def notes(self) -> list[str]:
        """For the model."""
        notes = []
        if self.restored:
            count = len(self.restored)
            notes.append(f"[Restored {count} secret value{'s' * (count > 1)}: {', '.join(self.restored)}]")
        if self.left:
            placeholders = ", ".join(f"[secret {name}]" for name in dict.fromkeys(self.left))
            notes.append(
                f"[Written as these words, not as the value: {placeholders}. A value is restored only where the text "
                "that is replaced in the same file held it.]"
            )
        return notes


def not_restored(written: str, replaced: str) -> RestoredText:
    """For what never holds a value: archives, databases, notes."""
    return RestoredText(written)
