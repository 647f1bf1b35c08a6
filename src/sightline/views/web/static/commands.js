// Commands of the console that make sense on the page: what begins with a slash and a name. As in the console, a space
// before the slash sends it to the agent as it is, and so is a path (`/usr/bin`, `//`). What works in the console only is
// not sent: a line lists what works here. Commands of extensions and files are run by the host, as a prompt.

import * as api from "./api.js";
import { reasoningIsShown, showReasoning } from "./entries.js";

// { name, args } of a command; null where it is words for the agent.
export function commandIn(written) {
  const [, name, args = ""] = /^\/([^\s/]*)(?: ([\s\S]*))?$/.exec(written.trimEnd()) ?? [];
  return name === undefined ? null : { name: name || "help", args: args.trim() };
}

// In the words of the console; a test holds that they agree. run: (page, args) → the message to show, a text or
// `{ help }`. `page`: { session, facts, actions }.
const COMMANDS = {
  help: { about: "commands and keys", run: ({ facts }) => ({ help: commandsOf(facts) }) },
  model: {
    about: "choose the model",
    args: "[NAME]",
    run: async ({ session, facts }, model) => {
      if (!model) return `Model ${facts.model || "unknown"}. Change it with /model NAME`;
      const { data } = await api.setModel(session, { model });
      return `Model ${data?.model ?? model}`;
    },
  },
  thinking: {
    about: "how long the model thinks",
    args: "[LEVEL]",
    run: async ({ session, facts }, thinking) => {
      if (!thinking) return `Thinking ${facts.thinking || "unknown"}. Change it with /thinking LEVEL`;
      const { data } = await api.setModel(session, { thinking });
      return `Thinking ${data?.thinking ?? thinking}`;
    },
  },
  approvals: {
    about: "what the agent may do: the approval level",
    args: "[LEVEL]",
    run: async ({ session, facts }, level) => {
      const { levels = {}, level_choices: choices = [] } = facts;
      if (!level) return `Approval level ${facts.approval?.level ?? "unknown"}. Change it with /approvals ${choices.join("|")}`;
      if (levels[level] && !choices.includes(level)) throw new Error(`The level ${level} can be chosen in a terminal only.`);
      const { data } = await api.setApproval(session, level);
      return `approval ${level}${data?.next ? ", from the next prompt on" : ""}: ${levels[level] ?? ""}`;
    },
  },
  stop: { about: "stop the agent", run: ({ actions }) => actions.stop() },
  queue: {
    about: "send this when the agent is done",
    args: "[TEXT]",
    run: async ({ session }, text) => {
      if (!text) throw new Error("Which message? /queue TEXT");
      await api.prompt(session, text, "follow_up");
    },
  },
  btw: {
    about: "ask a side question, outside the conversation",
    args: "QUESTION",
    run: async ({ session }, question) => {
      if (!question) throw new Error("There is no question. Write it after the command: /btw QUESTION");
      await api.askAside(session, question);
    },
  },
  unqueue: { about: "edit queued messages", run: ({ actions }) => actions.unqueue() },
  compact: {
    about: "summarise the older part of the conversation",
    args: "[FOCUS]",
    run: async ({ session }, focus) => {
      const { data } = await api.compact(session, focus);
      return data?.compacted === false ? "There is nothing to summarise yet." : "";
    },
  },
  reasoning: {
    about: "show or hide what the model thinks",
    args: "[on|off]",
    run: (_, on) => showReasoning(on ? on === "on" : !reasoningIsShown()),
  },
  new: { about: "start a new session", run: ({ actions }) => actions.create() },
  clear: { about: "the same as /new", run: ({ actions }) => actions.create() },
  resume: { about: "open another session", args: "[WORDS]", run: ({ actions }, words) => actions.sessions(words) },
  rename: {
    about: "give this session a title",
    args: "TITLE",
    run: async ({ session }, title) => {
      if (!title) throw new Error("Which title? /rename TITLE");
      await api.rename(session, title);
      return `Renamed to: ${title}`;
    },
  },
  mail: { about: "the messages between agents; read them, write and answer", run: ({ actions }) => actions.mail() },
  review: {
    about: "review a change: what is not committed, a branch, commits",
    args: "[BRANCH|A..B|COMMIT] [-- FOCUS]",
    run: async ({ session, actions }, text) => {
      if (!text || text.startsWith("-- ")) return actions.review(text.replace(/^-- */, ""));
      await api.review(session, text);
    },
  },
  skill: {
    about: "the skills here, or use one",
    args: "[NAME [WORDS]]",
    run: async ({ session, facts }, text) => {
      if (!text) return listed(facts.skills);
      if (!facts.skills?.length) throw new Error(NO_SKILLS);
      await api.prompt(session, `/skill ${text}`, facts.running ? "steer" : "prompt");
    },
  },
};

const NO_SKILLS = "There are no skills here.";

function listed(skills) {
  if (!Array.isArray(skills) || skills.length === 0) return NO_SKILLS;
  return skills.map(({ name, standing = "", place = "", about = "" }) =>
    `${name} (${[place, standing].filter(Boolean).join(", ")})${about ? `: ${about}` : ""}`).join("\n");
}

const NAMES = Object.keys(COMMANDS).map((name) => `/${name}`).join(", ");

const OF = { project: "of this project", user: "yours" };

// [{ name, args, about }] of what can be entered here; those of extensions and files last.
export function commandsOf({ commands = [] }) {
  const ours = Object.entries(COMMANDS).map(([name, { about, args = "" }]) => ({ name, about, args }));
  const theirs = commands.filter((each) => each?.name && !Object.hasOwn(COMMANDS, each.name));
  const shown = ({ name, about = "", args = "", source = "extension" }) =>
    source === "extension" ? { name, about, args: "[TEXT]" } : { name, about: [about, OF[source]].filter(Boolean).join(" · "), args };
  return [...ours, ...theirs.map(shown)];
}

// What can follow the name of a command, as the same kind of rows: names of skills.
export function givenOf({ skills = [] }) {
  const usable = Array.isArray(skills) ? skills.filter((each) => each?.usable) : [];
  return usable.map(({ name, about = "" }) => ({ name: `skill ${name}`, about, args: "[WORDS]" }));
}

// Whether the host runs it: a command of an extension or a file.
export const isHosts = ({ name }, { commands = [] }) => commands.some((each) => each?.name === name);

export async function run({ name, args }, page) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null;
  if (!command) throw new Error(`/${name} does not work on this page. Commands on this page: ${NAMES}. The others work in the console. Begin with a space to send it to the agent.`);
  return (await command.run(page, args)) || "";
}
