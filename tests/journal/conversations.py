"""Conversations for tests: short ways to write down messages, entries and whole sessions."""

from sightline.conversation import AssistantMessage, CallPart, TextPart, ToolMessage, UserMessage
from sightline.events import Text
from sightline.events.stamping import stamp
from sightline.journal import Entry, SessionTree


def user(text, origin=""):
    return UserMessage([TextPart(text)], origin)


def assistant(text="", *commands, stop="stop", model=""):
    calls = [CallPart(f"c{number}", "bash", {"command": command}) for number, command in enumerate(commands)]
    return AssistantMessage([*([TextPart(text)] if text else []), *calls], model=model, stop_reason=stop)


def tool(text, name="bash"):
    return ToolMessage("c0", name, [TextPart(text)])


class Talk:
    """A session being written: each step is added to the journal and to the tree that its writer keeps."""

    def __init__(self, store, **header):
        self.store = store
        self.writer = store.create(**header)
        self.id = self.writer.folder.name
        self.tree = SessionTree.load(self.writer.folder)
        self.seq = 0

    def say(self, *texts):
        """Events, which belong to the entry that comes next."""
        for text in texts:
            self.seq += 1
            self.writer.append([stamp(Text(text), self.seq, float(self.seq))])

    def step(self, message=None, *, events=1, **fields):
        """An entry below the leaf, after so many events; its id."""
        self.say(*["word"] * events)
        fields.setdefault("id", self.tree.next_id())
        fields.setdefault("parent", self.tree.leaf)
        fields.setdefault("time", float(len(self.tree.nodes) + 1))
        entry = Entry(seq=self.seq, message=message, **fields)
        assert self.writer.append([entry])
        self.tree.add(entry, self.writer.place_of(entry.id))
        return entry.id

    def move(self, to):
        return self.step(type="leaf", data={"to": to}, events=0)

    def label(self, target, label):
        return self.step(type="label", data={"target": target, "label": label}, events=0)

    def loaded(self):
        """The tree as the next one to come reads it."""
        return SessionTree.load(self.writer.folder)

    def close(self):
        self.writer.close()
        return self.id
