"""Mail of one agent: every message is read once, in order, and a full box says what it dropped."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.delegation._mailboxes import MAILBOX_AT_MOST, MESSAGE_AT_MOST, UNREAD_AT_MOST, Mail, Mailbox


def mail(number: int, sender: str = "A") -> Mail:
    return Mail(f"m{number}", sender, "B", f"text {number}")


async def test_a_call_that_waits_reads_it_at_once() -> None:
    box = Mailbox()
    waiting = asyncio.ensure_future(box.wait())
    await asyncio.sleep(0)
    assert box.put(mail(1))
    assert (await waiting) == mail(1)
    assert not len(box)


async def test_a_call_waits_for_one_sender_and_leaves_the_others() -> None:
    box = Mailbox()
    waiting = asyncio.ensure_future(box.wait("C"))
    await asyncio.sleep(0)
    assert not box.put(mail(1, "A"))
    assert box.put(mail(2, "C"))
    assert (await waiting) == mail(2, "C")
    assert box.peek() == [mail(1, "A")]


async def test_none_comes_in_time() -> None:
    assert await Mailbox().wait(seconds=0.01) is None


async def test_what_came_for_a_call_that_is_cancelled_is_not_lost() -> None:
    box = Mailbox()
    waiting = asyncio.ensure_future(box.wait())
    await asyncio.sleep(0)
    box.put(mail(1))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert box.take_all() == [mail(1)]


def test_a_full_box_drops_the_oldest_and_counts_them() -> None:
    box = Mailbox()
    for number in range(MAILBOX_AT_MOST + 3):
        box.put(mail(number))
    assert (len(box), box.dropped, box.peek()[0]) == (MAILBOX_AT_MOST, 3, mail(3))
    box.take_all()
    assert box.dropped == 0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["put A", "put C", "wait", "wait C", "inbox", "peek", "cancel", "turn"]), max_size=60))
def test_every_message_is_read_once_and_in_its_order(steps: list[str]) -> None:
    """Whatever is done with the box: what was read and what is left is what was sent."""

    async def play() -> None:
        box, sent, read = Mailbox(), [], []
        waiting: list[asyncio.Future[Mail | None]] = []
        for number, step in enumerate(steps):
            match step.split():
                case ["put", sender]:
                    sent.append(mail(number, sender))
                    box.put(sent[-1])
                case ["wait", *sender]:
                    waiting.append(asyncio.ensure_future(box.wait("".join(sender))))
                case ["inbox"]:
                    read += box.take_all()
                case ["peek"]:
                    assert set(box.peek()) <= set(sent) - set(read)
                case ["cancel"] if waiting:
                    last = waiting.pop()
                    if last.done() and (got := last.result()) is not None:
                        read.append(got)
                    last.cancel()
                case ["turn"]:
                    await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for each in waiting:
            if each.done() and not each.cancelled() and (got := each.result()) is not None:
                read.append(got)
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        left = box.take_all()
        assert sorted([*read, *left], key=lambda m: m.id) == sorted(sent, key=lambda m: m.id)

    asyncio.run(play())


def test_long_messages_fill_it_before_there_are_many() -> None:
    """All that is unread may enter its reader's context at once."""
    box = Mailbox()
    for number in range(64):
        box.put(Mail(f"m{number}", "A", "B", "x" * MESSAGE_AT_MOST))
    assert sum(len(each.text) for each in box.peek()) <= UNREAD_AT_MOST
    assert box.peek()[-1].id == "m63"
    assert box.dropped == 64 - len(box)
