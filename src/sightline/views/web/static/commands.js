// Commands of the console that make sense on the page: what begins with a slash and a name. As in the console, a space
// before the slash sends it to the agent as it is, and so is a path (`/usr/bin`, `//`). What works in the console only is
// not sent: a line says what works here. Commands of extensions are run by the host, as a prompt.

import * as api from "./api.js";
import { reasoningIsShown, showReasoning } from "./entries.js";

// { name, args } of a command; null where it is words for the agent.
export function commandIn(written) {
  const [, name, args = ""] = /^\/([^\s/]*)(?: ([\s\S]*))?$/.exec(written.trimEnd()) ?? [];
  return name === undefined ? null : { name: name || "help", args: args.trim() };
}

// Each: (page, args) → what there is to say of it. `page`: { session, facts, actions }.
const COMMANDS = {
  approvals: async ({ session, facts }, level) => {
    const levels = facts.levels ?? {};
    if (!level) return `Approval level ${facts.approval?.level ?? "unknown"}. Change it with /approvals ${Object.keys(levels).filter((name) => name !== "full").join("|")}`;
    if (level === "full") throw new Error("The level full can be chosen in a terminal only.");
    const { data } = await api.setApproval(session, level);
    return `approval ${level}${data?.next ? ", from the next prompt on" : ""}: ${levels[level] ?? ""}`;
  },
  clear: ({ actions }) => actions.create(),
  compact: async ({ session }, focus) => {
    const { data } = await api.compact(session, focus);
    return data?.compacted === false ? "There is nothing to summarise yet." : "";
  },
  help: () => `Commands on this page: ${NAMES}. The others work in the console.`,
  model: async ({ session, facts }, model) => {
    if (!model) return `Model ${facts.model || "unknown"}. Change it with /model NAME`;
    const { data } = await api.setModel(session, { model });
    return `Model ${data?.model ?? model}`;
  },
  new: ({ actions }) => actions.create(),
  queue: async ({ session }, text) => {
    if (!text) throw new Error("Which message? /queue TEXT");
    await api.prompt(session, text, "follow_up");
  },
  reasoning: (_, on) => {
    showReasoning(on ? on === "on" : !reasoningIsShown());
  },
  rename: async ({ session }, title) => {
    if (!title) throw new Error("Which title? /rename TITLE");
    await api.rename(session, title);
    return `Renamed to: ${title}`;
  },
  resume: ({ actions }) => actions.sessions(),
  stop: ({ actions }) => actions.stop(),
  thinking: async ({ session, facts }, thinking) => {
    if (!thinking) return `Thinking ${facts.thinking || "unknown"}. Change it with /thinking LEVEL`;
    const { data } = await api.setModel(session, { thinking });
    return `Thinking ${data?.thinking ?? thinking}`;
  },
  unqueue: ({ actions }) => actions.unqueue(),
};

const NAMES = Object.keys(COMMANDS).map((name) => `/${name}`).join(", ");

// Whether the host runs it: a command of an extension.
export const isHosts = ({ name }, { commands = [] }) => commands.some((each) => each?.name === name);

export async function run({ name, args }, page) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null;
  if (!command) throw new Error(`/${name} does not work on this page. ${COMMANDS.help()} Begin with a space to send it to the agent.`);
  return (await command(page, args)) || "";
}
