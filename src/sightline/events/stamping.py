"""Stamps of events: whose they are, who observed them, their number and time. Each is given once, before publication.

Not part of `sightline.events`: only an actor publishes, and an import contract lists the few other places that stamp.
"""

from msgspec.structs import force_setattr

from sightline.events._vocabulary import Envelope, Event


def of_source(source: str, events: list[Event]) -> list[Event]:
    """New events, stamped with the provider or tool that observed them."""
    for event in events:
        force_setattr(event, "source", source)
    return events


def of_agent(path: str, events: list[Event]) -> list[Event]:
    """New events, stamped with the path of their agent."""
    for event in events:
        force_setattr(event, "agent", path)
    return events


def in_place_of(event: Event, other: Event) -> Event:
    """A new event with the number, time, agent and source of another one, which cannot be shown as it is."""
    for field in Envelope.__struct_fields__:
        force_setattr(other, field, getattr(event, field))
    return other


def stamp(event: Event, seq: int, time: float) -> Event:
    """An event with its number and time. Only the owner of a session does this."""
    force_setattr(event, "seq", seq)
    force_setattr(event, "time", time)
    return event
