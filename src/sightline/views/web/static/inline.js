// Markdown within a line. Rules:
// - Nothing here makes elements: it gives nodes, each text or a kind with children, and `markdown.js` draws them.
// - HTML is text. A link is a link only to http, https and mailto; an image is its description: nothing is loaded.
// - Time grows with the length of the text, whatever it holds: no search goes back over what was searched before.

const LONGEST_ADDRESS = 2000;
const MOST_OPENERS = 50; // emphasis looked back for; a text with more open at once is not worth more
const PUNCTUATION = /[!-/:-@[-`{-~\p{P}\p{S}]/u;
const BARE = /^https?:\/\/[^\s<>"`]{1,2000}/;

export function safeAddress(address) {
  try {
    const { protocol, href } = new URL(address);
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : "";
  } catch {
    return "";
  }
}

export function inline(text) {
  const nodes = [];
  const opened = []; // "[" and "![" not closed yet: their places in nodes
  const ticks = runsOfTicks(text);
  let plain = "";
  const flush = () => {
    if (plain) nodes.push({ text: plain });
    plain = "";
  };
  for (let at = 0; at < text.length;) {
    const found = special(text, at, ticks);
    if (!found) {
      plain += text[at];
      at += 1;
    } else if (found.literal !== undefined) {
      plain += found.literal;
      at = found.end;
    } else {
      flush();
      at = found.end;
      if (found.close) at = closeBracket(text, at, nodes, opened);
      else {
        if (found.node.bracket) opened.push(nodes.length);
        nodes.push(found.node);
      }
    }
  }
  flush();
  return emphasised(nodes);
}

function special(text, at, ticks) {
  const character = text[at];
  switch (character) {
    case "\\": {
      const next = text[at + 1];
      if (next === "\n") return { node: { kind: "br" }, end: at + 2 };
      return next && /[!-/:-@[-`{-~]/.test(next) ? { literal: next, end: at + 2 } : null;
    }
    case "`": return codeSpan(text, at, ticks);
    case "\n": return { node: { kind: /\S {2,}$/.test(text.slice(Math.max(0, at - 8), at)) ? "br" : "soft" }, end: at + 1 };
    case "<": return angled(text, at);
    case "!": return text[at + 1] === "[" ? { node: { bracket: "![" }, end: at + 2 } : null;
    case "[": return { node: { bracket: "[" }, end: at + 1 };
    case "]": return { close: true, end: at + 1 };
    case "*": case "_": case "~": return delimiters(text, at);
    case "h": return bare(text, at);
    default: return null;
  }
}

function runsOfTicks(text) {
  const runs = new Map(); // length → places, first to last
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (!runs.has(run.length)) runs.set(run.length, []);
    runs.get(run.length).push(index);
  }
  for (const places of runs.values()) places.reverse();
  return runs;
}

function codeSpan(text, at, ticks) {
  let end = at;
  while (text[end] === "`") end += 1;
  const length = end - at;
  const places = ticks.get(length) ?? [];
  while (places.length && places.at(-1) < end) places.pop();
  if (!places.length) return { literal: text.slice(at, end), end };
  const closes = places.at(-1);
  let code = text.slice(end, closes).replaceAll("\n", " ");
  if (code.length > 2 && code.startsWith(" ") && code.endsWith(" ") && code.trim()) code = code.slice(1, -1);
  return { node: { kind: "code", text: code }, end: closes + length };
}

function angled(text, at) {
  const close = text.slice(at, at + LONGEST_ADDRESS).indexOf(">");
  const address = close > 0 ? text.slice(at + 1, at + close) : "";
  if (!address || /[\s<]/.test(address) || !/^(https?:\/\/|mailto:)/i.test(address)) return null;
  return { node: link(address, [{ text: address }]), end: at + close + 1 };
}

function bare(text, at) {
  if (at > 0 && !/[\s([<"'*_~>]/.test(text[at - 1])) return null;
  if (!text.startsWith("http://", at) && !text.startsWith("https://", at)) return null;
  const found = text.slice(at, at + LONGEST_ADDRESS).match(BARE);
  if (!found) return null;
  let address = found[0].replace(/[.,:;!?'*_~\]]+$/, "");
  while (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
  return { node: link(address, [{ text: address }]), end: at + address.length };
}

function delimiters(text, at) {
  const character = text[at];
  let end = at;
  while (text[end] === character) end += 1;
  const run = text.slice(at, end);
  if (character === "~" && run.length !== 2) return { literal: run, end };
  const before = text[at - 1] ?? " ";
  const after = text[end] ?? " ";
  const spaceBefore = /\s/.test(before), spaceAfter = /\s/.test(after);
  const markBefore = PUNCTUATION.test(before), markAfter = PUNCTUATION.test(after);
  const left = !spaceAfter && (!markAfter || spaceBefore || markBefore);
  const right = !spaceBefore && (!markBefore || spaceAfter || markAfter);
  const inWord = character === "_";
  const opens = inWord ? left && (!right || markBefore) : left;
  const closes = inWord ? right && (!left || markAfter) : right;
  return { node: { mark: character, count: run.length, opens, closes }, end };
}

function closeBracket(text, at, nodes, opened) {
  const opener = opened.pop();
  const target = opener === undefined || text[at] !== "(" ? null : destination(text, at + 1);
  if (!target) {
    if (opener !== undefined) nodes[opener] = { text: nodes[opener].bracket };
    nodes.push({ text: "]" });
    return at;
  }
  const children = emphasised(nodes.splice(opener + 1));
  const { bracket } = nodes.pop();
  nodes.push(bracket === "[" ? link(target.address, children) : { kind: "image", children, address: target.address });
  return target.end;
}

function destination(text, at) {
  const limit = Math.min(text.length, at + LONGEST_ADDRESS);
  let depth = 0;
  for (let end = at; end < limit; end += 1) {
    const character = text[end];
    if (character === "\n") return null;
    if (character === "(") depth += 1;
    if (character === ")" && depth === 0) {
      const inside = text.slice(at, end).trim();
      const address = inside.startsWith("<") ? inside.slice(1).split(">")[0] : inside.split(/\s/)[0];
      return { address, end: end + 1 };
    }
    if (character === ")") depth -= 1;
  }
  return null;
}

function link(address, children) {
  const href = safeAddress(address);
  return href ? { kind: "link", href, children } : { kind: "unlinked", address, children };
}

// Pairs up what opens and closes emphasis, the innermost first; what finds no partner is text again.
function emphasised(nodes) {
  const done = [];
  const openers = []; // places in done
  for (const node of nodes) {
    if (node.bracket) done.push({ text: node.bracket });
    else if (!node.mark) done.push(node);
    else {
      let rest = node.count;
      while (rest > 0 && node.closes) {
        const place = openerFor(node, done, openers);
        if (place < 0) break;
        rest -= pair(done, openers, place, node.mark, rest);
      }
      if (rest === 0) continue;
      if (node.opens) openers.push(done.length);
      done.push({ mark: node.mark, count: rest });
    }
  }
  return done.map((node) => (node.mark ? { text: node.mark.repeat(node.count) } : node));
}

function openerFor(node, done, openers) {
  for (let at = openers.length - 1; at >= Math.max(0, openers.length - MOST_OPENERS); at -= 1) {
    if (done[openers[at]].mark === node.mark) return at;
  }
  return -1;
}

function pair(done, openers, at, mark, rest) {
  const place = openers[at];
  const opener = done[place];
  const used = mark === "~" ? 2 : Math.min(opener.count, rest) >= 2 ? 2 : 1;
  openers.length = at; // those in between found no partner
  const children = done.splice(place + 1).map((node) => (node.mark ? { text: node.mark.repeat(node.count) } : node));
  opener.count -= used;
  if (opener.count === 0) done.pop();
  else openers.push(place);
  done.push({ kind: mark === "~" ? "del" : used === 2 ? "strong" : "em", children });
  return used;
}
