"""A chat on the terminal engine: answers stream in above a prompt that can be typed into meanwhile.

    python examples/chat.py

No model is asked: the answers are below. How it works: docs/internals/terminal-programs.md
"""

import asyncio

from sightline.tty import Application, Input, Overlay, matches, run_application
from sightline.tty import components as ui

ANSWERS = {
    "long": "**Rows once, in order.** What scrolls away is the terminal's own scrollback:\n\n"
    + "".join(f"{number}. row {number} is written once\n" for number in range(1, 31))
    + "\n| key | does |\n| --- | --- |\n| Ctrl+O | opens the menu |\n| Ctrl+D | leaves |\n\nThat was *all*.\n",
    "short": "Yes: `once`.\n",
}
HINTS = (("enter", "send"), ("ctrl+o", "menu"), ("ctrl+d", "leave"))


class Chat:
    def __init__(self, application: Application) -> None:
        self.display, self.theme, self.bindings = application.display, application.theme, application.bindings
        self.length = "long"
        self.prompts: asyncio.Queue[str] = asyncio.Queue()
        self.transcript, self.status = ui.BlockColumn(), ui.Container()
        self.loader = ui.Loader(
            "answering",
            call_later=application.loop.call_later,
            request_render=self.display.request_render,
            theme=self.theme,
        )
        self.editor = ui.Editor(placeholder="Say something", bindings=self.bindings, theme=self.theme)
        self.editor.on_submit = self.submit
        for part in (self.transcript, self.status, self.editor, ui.KeyHints(HINTS, theme=self.theme)):
            self.display.add(part)
        self.display.set_focus(self.editor)
        self.display.add_input_listener(self.listen)
        self.task = application.loop.create_task(self.converse())
        self.task.add_done_callback(lambda task: task.cancelled() or task.result())  # a failure ends the program

    def listen(self, event: Input) -> Input | None:
        if not matches(event, "ctrl+o") or self.display.focus.component is not self.editor:
            return event
        self.open_menu()
        return None

    def submit(self, text: str) -> None:
        if text == "/menu":  # where there are no keys but whole lines: SIGHTLINE_LINEAR=1
            self.open_menu()
        elif text.strip():
            self.prompts.put_nowait(text)

    def open_menu(self) -> None:
        items = [ui.Item(length, f"{length} answers") for length in ANSWERS]
        lengths = ui.SelectList(items, bindings=self.bindings, theme=self.theme)
        box = ui.Box(ui.TextComponent("Which would you like?", theme=self.theme), lengths, theme=self.theme)
        menu = self.display.show_overlay(box, Overlay(anchor="center", width=30))

        def choose(item: ui.Item) -> None:
            self.length, self.editor.title = item.value, item.label
            menu.hide()

        lengths.on_select, lengths.on_cancel = choose, menu.hide

    async def converse(self) -> None:
        while True:
            prompt = await self.prompts.get()
            self.transcript.append(ui.TextComponent(f"› {prompt}", "accent", theme=self.theme))
            self.status.children = [self.loader]
            self.loader.start()
            await self.answer(ANSWERS[self.length])
            self.loader.stop()
            self.status.children = []
            self.display.request_render()

    async def answer(self, text: str) -> None:
        words = ui.Markdown(theme=self.theme)
        self.transcript.append(words, live=True)
        for start in range(0, len(text), 8):
            words.append(text[start : start + 8])
            self.display.request_render()
            await asyncio.sleep(0.01)
        words.finish()
        self.transcript.finish(words)


if __name__ == "__main__":
    raise SystemExit(run_application(Chat))
