"""The budget of images a terminal has to hold: the most recent ones."""


class ImageBudget:
    """Who may show pixels: the images with the highest numbers.

    One that had to give way stays text, and so does every older one: taking turns would redraw both for ever.
    """

    def __init__(self, limit: int) -> None:
        self._limit = max(limit, 0)
        self._live: set[int] = set()
        self._floor = -1

    def admit(self, number: int) -> list[int]:
        """Admit an image: returns the numbers of those that must give way for it, perhaps its own."""
        if number in self._live or self.is_refused(number):
            return []
        self._live.add(number)
        demoted = sorted(self._live)[: max(len(self._live) - self._limit, 0)]
        self._live.difference_update(demoted)
        self._floor = max([self._floor, *demoted])
        return demoted

    def is_refused(self, number: int) -> bool:
        return number <= self._floor

    def is_live(self, number: int) -> bool:
        return number in self._live

    def release(self, number: int) -> None:
        """The image is gone for good."""
        self._live.discard(number)
