"""Tool calls that a model wrote as words, as small models on local servers do.

What is understood, when it names a tool that was offered and holds nothing but calls:

    ```json                        <tool_call>{"name": …, "arguments": {…}}</tool_call>
    {"name": …, "arguments": {…}}  <function_call>…</function_call>   <tools>…</tools>   <|python_tag|>…
    ```                            [TOOL_CALLS][{…}, {…}]   functools[{…}]
    {"function": …, "parameters": {…}}      as a line or lines of its own

The name stands under `name`, `function`, `tool` or `tool_name` (or inside an object under `function`), the arguments
under `arguments`, `parameters`, `args` or `input`, as an object or as its JSON text. Where nothing but the JSON shows
that it is a call, it needs arguments and no other fields: a model may also show a tool's description. Inside a fence
that is no call, only what is marked counts.

Rules of `WrittenCalls`:

- Words are passed on as they come. From where a call could begin they are held back until it is one, which takes its
  text away for good, or cannot be one any more, which is mostly known after a few characters.
- However a text is cut into pieces, the words and calls are the same. With no call in it the words are the text.
- At most `HELD_AT_MOST` characters are held; a longer call is passed on as words.
"""

from sightline.models._textual._candidate import HELD_AT_MOST
from sightline.models._textual._json import WrittenCall
from sightline.models._textual._reader import WrittenCalls, split_calls

__all__ = ["HELD_AT_MOST", "WrittenCall", "WrittenCalls", "split_calls"]
