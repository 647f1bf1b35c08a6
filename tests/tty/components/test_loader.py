"""Loaders: the clock decides the frame, one timer at a time, and cancelling happens once."""

from sightline.tty.components._loader import FRAMES, TICK, Cancel, CancellableLoader, Loader
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key


class Clock:
    """A clock and timers that run when told."""

    def __init__(self):
        self.now = 100.0
        self.timers = []

    def call_later(self, delay, then):
        timer = _Timer(self.now + delay, then)
        self.timers.append(timer)
        return timer

    def waiting(self):
        return [timer for timer in self.timers if not timer.over]

    def advance_to(self, now):
        while due := [timer for timer in self.waiting() if timer.at <= now]:
            timer = min(due, key=lambda timer: timer.at)
            self.now = max(self.now, timer.at)
            timer.over = True
            timer.then()
        self.now = now


class _Timer:
    def __init__(self, at, then):
        self.at, self.then, self.over = at, then, False

    def cancel(self):
        self.over = True


def loader(kind=Loader, label="working", **options):
    clock = Clock()
    asked = []
    made = kind(label, call_later=clock.call_later, request_render=asked.append, clock=lambda: clock.now, **options)
    return made, clock, asked


def test_it_turns_one_frame_each_tick():
    """Every 80 ms another sign, and a render of this component alone is asked for."""
    turning, clock, asked = loader()
    turning.start()
    seen = []
    for tick in range(12):
        clock.advance_to(100 + (tick + 0.5) * TICK)
        seen.append(turning.render(20)[0])
    assert seen == [f"{frame} working" for frame in FRAMES + FRAMES[:2]]
    assert asked == [turning] * 12


def test_late_ticks_do_not_slow_it_down():
    """The frame follows the clock: after a stall it is where it would have been, and the next tick comes on time."""
    turning, clock, _ = loader()
    turning.start()
    clock.now += 3.5 * TICK
    clock.advance_to(clock.now)
    assert turning.render(20)[0][0] == FRAMES[3]
    (timer,) = clock.waiting()
    assert abs(timer.at - (100 + 4 * TICK)) < 1e-6


def test_ten_thousand_ticks_do_not_drift():
    """Rounding never adds up, and no tick comes twice."""
    turning, clock, asked = loader()
    turning.start()
    clock.advance_to(100 + 10_000.5 * TICK)
    assert len(asked) == 10_001
    assert turning.render(20)[0][0] == FRAMES[0]


def test_there_is_one_timer_while_it_runs_and_none_after():
    """tui.md, lifecycle: starting twice is starting once; stop and dispose end the timer."""
    turning, clock, asked = loader()
    turning.start()
    turning.start()
    assert len(clock.waiting()) == 1
    turning.stop()
    assert clock.waiting() == []
    turning.start()
    turning.dispose()
    assert clock.waiting() == []
    before = len(asked)
    clock.advance_to(200)
    assert len(asked) == before


def test_between_ticks_the_rows_are_the_same():
    """tui.md, core component contract: the same object until the frame, the width or the label changes."""
    turning, clock, asked = loader()
    turning.start()
    first = turning.render(20)
    clock.now += TICK / 2
    assert turning.render(20) is first
    turning.set_label("working")
    assert turning.render(20) is first
    turning.set_label("other")
    assert asked[-1] is turning
    assert turning.render(20)[0] == f"{FRAMES[0]} other"


def test_escape_cancels_once():
    """tui.md, lifecycle and cancellation: the work sees it, whoever put the loader up is told exactly once."""
    aborted = []
    cancelling, clock, _ = loader(CancellableLoader, on_abort=lambda: aborted.append(1))
    cancelling.start()
    assert not cancelling.handle_input(Key("a"))
    assert not cancelling.signal.cancelled
    assert cancelling.handle_input(Key("escape"))
    assert cancelling.handle_input(Key("escape"))
    assert cancelling.signal.cancelled
    assert aborted == [1]
    assert clock.waiting() == []


def test_it_says_which_key_cancels_where_there_is_room():
    """The person's own key, if they chose another."""
    cancelling, _, _ = loader(CancellableLoader, bindings=Bindings({"interrupt": "ctrl+x"}))
    cancelling.start()
    assert list(cancelling.render(40)) == [f"{FRAMES[0]} working (ctrl+x to cancel)"]
    assert list(cancelling.render(20)) == [f"{FRAMES[0]} working"]


def test_a_cancelled_loader_says_so():
    """The sign no longer turns and no key is offered; where room is short the word stays and the label goes."""
    cancelling, clock, asked = loader(CancellableLoader)
    cancelling.start()
    clock.advance_to(100 + 2.5 * TICK)
    assert list(cancelling.render(40)) == [f"{FRAMES[2]} working (escape to cancel)"]
    cancelling.handle_input(Key("escape"))
    before = len(asked)
    assert list(cancelling.render(40)) == ["– working (cancelled)"]
    assert list(cancelling.render(20)) == ["– cancelled"]
    assert list(cancelling.render(5)) == ["– ca…"]
    clock.advance_to(200)
    assert len(asked) == before


def test_work_that_cancels_itself_ends_the_loader():
    """The key is one way to cancel; the signal is another, and the row is drawn anew for it too."""
    cancelling, clock, asked = loader(CancellableLoader, label="")
    cancelling.start()
    before = len(asked)
    cancelling.signal.cancel()
    assert asked[before:] == [cancelling]
    assert clock.waiting() == []
    assert list(cancelling.render(40)) == ["– cancelled"]


def test_who_listens_late_is_told_at_once():
    """Work that begins after the key was pressed ends too."""
    signal = Cancel()
    signal.cancel()
    told = []
    signal.on_abort(lambda: told.append(1))
    assert told == [1]


def test_what_does_not_turn_has_a_sign_that_stands_still():
    """Before the start and after the end it must not look like something that hangs."""
    waiting, _, _ = loader()
    assert waiting.render(20)[0] == "○ working"
    waiting.start()
    assert waiting.render(20)[0] == f"{FRAMES[0]} working"
    waiting.stop()
    assert waiting.render(20)[0] == "○ working"
