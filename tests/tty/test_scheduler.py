"""When frames are drawn (runtime internals: render loop)."""

from sightline.tty.frame._scheduler import FRAME_INTERVAL, LONGEST_HOLD, RESIZE_SETTLE, Scheduler
from tests.tty.support import FakeClock


class _Drawn:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.times: list[float] = []
        self.scheduler = Scheduler(self.clock, self._draw)

    def _draw(self) -> None:
        self.times.append(self.clock.time())
        self.scheduler.drawn()


def test_render_loop_repeated_requests_are_one_frame() -> None:
    drawn = _Drawn()
    for _ in range(50):
        drawn.scheduler.request()
    drawn.clock.advance(1)
    assert len(drawn.times) == 1


def test_render_loop_ordinary_frames_keep_their_distance() -> None:
    drawn = _Drawn()
    for _ in range(100):
        drawn.scheduler.request()
        drawn.clock.advance(FRAME_INTERVAL / 10)
    gaps = [after - before for before, after in zip(drawn.times, drawn.times[1:], strict=False)]
    assert len(drawn.times) >= 9
    assert min(gaps) >= FRAME_INTERVAL - 1e-9


def test_render_loop_what_was_typed_does_not_wait() -> None:
    drawn = _Drawn()
    drawn.scheduler.request()
    drawn.clock.advance(0)
    drawn.scheduler.request()
    drawn.scheduler.request(urgent=True)
    drawn.clock.advance(0)
    assert len(drawn.times) == 2


def test_resize_nothing_is_drawn_until_the_size_is_still() -> None:
    drawn = _Drawn()
    for _ in range(10):
        drawn.scheduler.hold()
        drawn.scheduler.request(urgent=True)
        drawn.clock.advance(RESIZE_SETTLE / 2)
    assert drawn.times == []
    drawn.clock.advance(RESIZE_SETTLE)
    assert len(drawn.times) == 1


def test_resize_a_drag_that_never_pauses_does_not_keep_keys_from_being_shown() -> None:
    drawn = _Drawn()
    begun = drawn.clock.time()
    for _ in range(100):
        drawn.scheduler.hold()
        drawn.scheduler.request(urgent=True)
        drawn.clock.advance(RESIZE_SETTLE / 2)
    gaps = [after - before for before, after in zip([begun, *drawn.times], drawn.times, strict=False)]
    assert len(drawn.times) >= 4
    assert max(gaps) <= LONGEST_HOLD + RESIZE_SETTLE


def test_render_loop_what_comes_after_a_quiet_moment_is_drawn_at_once() -> None:
    """A line every tenth of a second waits for nothing."""
    drawn = _Drawn()
    for _ in range(5):
        drawn.clock.advance(0.1)
        asked = drawn.clock.time()
        drawn.scheduler.request()
        drawn.clock.advance(0)
        assert drawn.times[-1] == asked


def test_render_loop_a_spinner_does_not_disturb_the_quiet() -> None:
    """A frame that turned it a moment ago makes nothing else wait; turning it keeps its distance from everything."""
    drawn = _Drawn()
    drawn.scheduler.drawn(small=True)
    drawn.clock.advance(0.001)
    drawn.scheduler.request()
    drawn.clock.advance(0)
    assert len(drawn.times) == 1
    drawn.clock.advance(0.001)
    drawn.scheduler.request(small=True)
    drawn.clock.advance(FRAME_INTERVAL - 0.002)
    assert len(drawn.times) == 1
    drawn.clock.advance(0.002)
    assert len(drawn.times) == 2


def test_render_loop_small_frames_keep_their_distance_from_each_other() -> None:
    """However often one row is said to have changed."""
    drawn = _Drawn()
    drawn.scheduler.drawn(small=True)
    drawn.scheduler.request(small=True)
    drawn.clock.advance(FRAME_INTERVAL / 2)
    assert drawn.times == []
