"""The conversations that are recorded, for every provider alike."""

from typing import Any

import msgspec

from sightline.testing.standin import Script, load_script

_UNUSUAL = (
    "混合文字: 日本語のテキスト、简体中文、한국어. Family: 👨‍👩‍👧‍👦 flag: 🇯🇵 skin: 👍🏽. "
    "RTL: שלום עולם and مرحبا بالعالم. Combining: e\u0301 n\u0303. Math: 𝔘𝔫𝔦. Tab:\tend."
)


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A script and what its calls come to. `outputs` and `failing` go by a call's command or path."""

    description: str
    prompt: str
    turns: list[list[dict[str, Any]]]
    outputs: dict[str, str] = {}  # what the output of a call has in it
    failing: tuple[str, ...] = ()
    codex_model: str = ""  # where it takes another than the usual one

    @property
    def script(self) -> Script:
        return load_script(self.turns)


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, **more}


def _run(command: str) -> dict[str, Any]:
    return {"tool": "Bash", "args": {"command": command}}


def _read(path: str) -> dict[str, Any]:
    return {"tool": "Read", "args": {"file_path": path}}


def _delegate(title: str, prompt: str, *turns: list[dict[str, Any]]) -> dict[str, Any]:
    return {"tool": "Task", "args": {"description": title, "prompt": prompt}, "agent": list(turns)}


SCENARIOS: dict[str, Scenario] = {
    "text_only": Scenario(
        description="One turn of plain text with Markdown.",
        prompt="Describe this project.",
        turns=[[_text("This is a small project.\n\nIt has:\n\n- `README.md`\n- `src/app.py`, the **program**\n")]],
    ),
    "single_tool": Scenario(
        description="Text, one file read, then the answer.",
        prompt="Read README.md and sum it up.",
        turns=[[_text("I'll read it first."), _read("README.md")], [_text("It adds up the stock in a CSV file.")]],
        outputs={"README.md": "Demo project"},
    ),
    "bash_tool": Scenario(
        description="One shell command per response, the second writing to both streams.",
        prompt="Run the checks.",
        turns=[
            [_run("wc -l data.csv")],
            [_run("echo to-stdout; echo to-stderr >&2")],
            [_text("Four lines, and one line on each stream.")],
        ],
        outputs={"wc -l data.csv": "4 data.csv", "echo to-stdout; echo to-stderr >&2": "to-stdout"},
    ),
    "interleaved": Scenario(
        description="Text and calls by turns inside one response, then again over several.",
        prompt="Look at everything and report as you go.",
        turns=[
            [_text("First the README."), _read("README.md"), _text("Next the data."), _read("data.csv")],
            [_text("Now the lines."), _run("wc -l data.csv")],
            [_text("The data has four lines.")],
        ],
        outputs={"README.md": "Demo project", "data.csv": "apple", "wc -l data.csv": "4 data.csv"},
    ),
    "parallel_tools": Scenario(
        description="Three calls side by side, two of them the same.",
        prompt="Do three things at once.",
        turns=[[_run("echo same"), _run("echo same"), _read("src/app.py")], [_text("All three are done.")]],
        outputs={"echo same": "same", "src/app.py": "GREETING"},
    ),
    "tool_error": Scenario(
        description="A command that exits 3, then a file that does not exist.",
        prompt="Try what cannot work.",
        turns=[
            [_text("Running the failing step."), _run("echo about to fail; exit 3")],
            [_text("Now the missing file."), _read("no-such-file.txt")],
            [_text("Both failed, as expected.")],
        ],
        outputs={"echo about to fail; exit 3": "about to fail"},
        failing=("echo about to fail; exit 3", "no-such-file.txt"),
    ),
    "edit_tool": Scenario(
        description="A new file is written, an existing one is read and changed.",
        prompt="Write notes.txt and change the greeting.",
        turns=[
            [{"tool": "Write", "args": {"file_path": "notes.txt", "content": "first line\nsecond line\n"}}],
            [_read("src/app.py")],
            [
                {
                    "tool": "Edit",
                    "args": {
                        "file_path": "src/app.py",
                        "old_string": 'GREETING = "hello"',
                        "new_string": 'GREETING = "good morning"',
                    },
                }
            ],
            [_text("Both changes are made.")],
        ],
        outputs={"src/app.py": "GREETING"},
    ),
    "unicode": Scenario(
        description="CJK, joined emoji, right-to-left and combining marks in words, arguments and output.",
        prompt="Print some unusual characters: 你好 🧑‍🚀.",
        turns=[
            [_text(_UNUSUAL), _run("printf '%s\\n' '日本語 👩🏽‍💻 שלום'")],
            [_text("完了 ✅ \u200fשלום\u200f 🧑‍🚀")],
        ],
        outputs={"printf '%s\\n' '日本語 👩🏽‍💻 שלום'": "日本語 👩🏽‍💻 שלום"},
    ),
    "reasoning": Scenario(
        description="Thinking before the words, and again after a call.",
        prompt="Think before you answer.",
        turns=[
            [
                {"reasoning": "The data file is small, so reading it is cheap."},
                _text("Let me look."),
                _read("data.csv"),
            ],
            [{"reasoning": "5, 7 and 3 make 15."}, _text("There are 15 pieces.")],
        ],
        outputs={"data.csv": "apple"},
    ),
    "delegation": Scenario(
        description="Two subagents are started in one response; each makes a call and answers.",
        prompt="Have one helper count the rows and another read the README.",
        turns=[
            [
                _text("I'll hand this to two helpers."),
                _delegate(
                    "Count data rows",
                    "Helper A: count the rows of data.csv and report the number.",
                    [_text("Counting."), _run("wc -l < data.csv")],
                    [_text("Helper A reports: three rows and a header.")],
                ),
                _delegate(
                    "Read the README",
                    "Helper B: read README.md and report its title.",
                    [_read("README.md")],
                    [_text("Helper B reports: the title is Demo project.")],
                ),
            ],
            [_text("Both helpers are done.")],
        ],
        outputs={"wc -l < data.csv": "4", "README.md": "Demo project"},
        codex_model="gpt-5-codex",  # newer models do not show that they delegate
    ),
    "api_error": Scenario(
        description="The server rejects the request; nothing is retried.",
        prompt="Say something invalid.",
        turns=[[{"error": "the request was rejected by the model server", "status": 400}]],
    ),
    "error_after_tool": Scenario(
        description="One call works, then the server rejects the next request.",
        prompt="List the files, then break.",
        turns=[[_run("ls")], [{"error": "the follow-up was rejected", "status": 400}]],
        outputs={"ls": "README.md"},
    ),
    "api_retry": Scenario(
        description="The first attempt finds the server overloaded, the second works.",
        prompt="Answer in spite of trouble.",
        turns=[[{"error": "Overloaded", "status": 503, "times": 1, "retry_after": 1}, _text("Here is the answer.")]],
    ),
    "stream_cut": Scenario(
        description="After one call the connection breaks once in the middle of the closing text.",
        prompt="Answer over a bad line.",
        turns=[[_run("echo line is up")], [_text("Here comes the final answer.", cut_at=15)]],
        outputs={"echo line is up": "line is up"},
    ),
}
