// Markdown as elements. What was drawn stays while more is written: only the last block of a text is made again.
// Everything is made by `make`, from text; see inline.js for what may become a link.

import { copyText } from "./copy.js";
import { button, make } from "./dom.js";
import { coloured } from "./highlight.js";
import { inline } from "./inline.js";
import { toast } from "./announce.js";

const DEEPEST = 8; // lists and quotes inside each other; further in, they are text

export class Markdown {
  constructor() {
    this.element = make("div", { className: "text markdown" });
    this.source = "";
    this.drawn = []; // { from, element }
  }

  update(source) {
    if (source === this.source) return;
    const last = this.drawn.at(-1);
    // Of what is only longer, all but the last block is as it was.
    const unchanged = last && source.startsWith(this.source) ? this.drawn.slice(0, -1) : [];
    const from = unchanged.length ? last.from : 0;
    for (const { element } of this.drawn.slice(unchanged.length)) element.remove();
    this.drawn = unchanged;
    this.source = source;
    const lines = source.slice(from).split("\n");
    const starts = [];
    for (let at = from, n = 0; n < lines.length; n += 1) {
      starts.push(at);
      at += lines[n].length + 1;
    }
    for (const block of blocksOf(lines, 0)) {
      const element = drawn(block);
      this.element.append(element);
      this.drawn.push({ from: starts[block.at], element, level: block.level });
      if (block.level) element.setAttribute("aria-level", this.depth());
    }
  }

  // The page's own headings reach level 2 above a text. However a text begins, its levels go down one by one.
  depth() {
    const above = [];
    for (const { level } of this.drawn.filter((one) => one.level)) {
      while (above.length && above.at(-1) >= level) above.pop();
      above.push(level);
    }
    return 2 + above.length;
  }
}

const INDENT = /^[ \t]*/;
const indentOf = (line) => line.match(INDENT)[0].replaceAll("\t", "    ").length;
const blank = (line) => line === undefined || !line.trim();
const fenceOf = (line) => line.match(/^ {0,3}(`{3,}|~{3,})([^`]*)$/);
const headingOf = (line) => line.match(/^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/);
const isRule = (line) => /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/.test(line.slice(0, 200));
const quoted = (line) => /^ {0,3}>/.test(line);
const itemOf = (line) => line.match(/^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+(?=\S)|[ \t]*$)/);

function startsBlock(line) {
  return fenceOf(line) || headingOf(line) || isRule(line) || quoted(line) || itemOf(line);
}

export function blocksOf(lines, depth) {
  const blocks = [];
  for (let at = 0; at < lines.length;) {
    if (blank(lines[at])) {
      at += 1;
      continue;
    }
    const block = fence(lines, at) ?? heading(lines, at) ?? rule(lines, at)
      ?? (depth < DEEPEST ? quote(lines, at, depth) ?? list(lines, at, depth) : null)
      ?? table(lines, at) ?? paragraph(lines, at);
    blocks.push({ ...block, at });
    at = block.next;
  }
  return blocks;
}

function fence(lines, at) {
  const found = fenceOf(lines[at]);
  if (!found) return null;
  const [, mark, info] = found;
  const indent = indentOf(lines[at]);
  const code = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next].trim();
    if (line.length >= mark.length && line[0] === mark[0] && line === mark[0].repeat(line.length)) {
      next += 1;
      break;
    }
    code.push(lines[next].slice(Math.min(indent, indentOf(lines[next]))));
  }
  return { kind: "code", text: code.join("\n"), language: info.trim().split(/\s/)[0], next };
}

function heading(lines, at) {
  const found = headingOf(lines[at]);
  return found && { kind: "heading", level: found[1].length, text: (found[2] ?? "").replace(/[ \t]+#+[ \t]*$/, ""), next: at + 1 };
}

const rule = (lines, at) => (isRule(lines[at]) ? { kind: "rule", next: at + 1 } : null);

function quote(lines, at, depth) {
  if (!quoted(lines[at])) return null;
  const inside = [];
  let next = at;
  for (; next < lines.length && !blank(lines[next]); next += 1) {
    if (quoted(lines[next])) inside.push(lines[next].replace(/^ {0,3}> ?/, ""));
    else if (startsBlock(lines[next])) break;
    else inside.push(lines[next]);
  }
  return { kind: "quote", blocks: blocksOf(inside, depth + 1), next };
}

function list(lines, at, depth) {
  const first = itemOf(lines[at]);
  if (!first) return null;
  const mark = first[2].at(-1);
  const ordered = mark === "." || mark === ")";
  const items = [];
  let loose = false;
  let next = at;
  while (next < lines.length) {
    const found = itemOf(lines[next]);
    if (!found || found[2].at(-1) !== mark || (!ordered && isRule(lines[next]))) break;
    const item = itemLines(lines, next, found[0].length);
    items.push(blocksOf(item.lines, depth + 1));
    loose ||= item.loose && (items.at(-1).length > 1 || itemOf(lines[item.next] ?? "")?.[2].at(-1) === mark);
    next = item.next;
  }
  return { kind: "list", ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, items, loose, next };
}

// Two columns are enough to belong to an item: models rarely count the width of "10. ".
function itemLines(lines, at, width) {
  const inside = [lines[at].slice(width)];
  let gap = false;
  let loose = false;
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next];
    if (blank(line)) {
      gap = true;
      inside.push("");
      continue;
    }
    const indent = indentOf(line);
    if (indent < 2 && (gap || startsBlock(line))) break;
    loose ||= gap;
    gap = false;
    inside.push(line.replaceAll("\t", "    ").slice(Math.min(indent, width)));
  }
  return { lines: inside, loose: loose || gap, next };
}

function cells(line) {
  const parts = [];
  let cell = "";
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === "\\" && line[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (line[at] === "|") {
      parts.push(cell.trim());
      cell = "";
    } else cell += line[at];
  }
  parts.push(cell.trim());
  if (parts[0] === "") parts.shift();
  if (parts.at(-1) === "") parts.pop();
  return parts;
}

function table(lines, at) {
  if (!lines[at].includes("|") || blank(lines[at + 1]) || !lines[at + 1].includes("-")) return null;
  const head = cells(lines[at]);
  const rules = cells(lines[at + 1]);
  if (!head.length || rules.length !== head.length || !rules.every((cell) => /^:?-+:?$/.test(cell))) return null;
  const rows = [];
  let next = at + 2;
  for (; next < lines.length && lines[next].includes("|") && !blank(lines[next]); next += 1) {
    rows.push(cells(lines[next]).slice(0, head.length));
  }
  const sides = rules.map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "middle" : "right") : ""));
  return { kind: "table", head, rows, sides, next };
}

function paragraph(lines, at) {
  const text = [lines[at].trimStart()];
  let next = at + 1;
  for (; next < lines.length && !blank(lines[next]); next += 1) {
    const underline = lines[next].match(/^ {0,3}(=+|-+)[ \t]*$/);
    if (underline) return { kind: "heading", level: underline[1][0] === "=" ? 1 : 2, text: text.join("\n"), next: next + 1 };
    if (startsBlock(lines[next])) break;
    text.push(lines[next].trimStart());
  }
  return { kind: "paragraph", text: text.join("\n").trimEnd(), next };
}

const DRAWERS = {
  paragraph: (block) => make("p", {}, ...nodes(block.text)),
  heading: (block) => make("p", { className: `heading level${block.level}`, role: "heading", "aria-level": 3 }, ...nodes(block.text)),
  rule: () => make("hr"),
  code: codeBlock,
  quote: (block) => make("blockquote", {}, ...block.blocks.map(drawn)),
  list: (block) => make(block.ordered ? "ol" : "ul", block.ordered && block.start !== 1 ? { start: block.start } : {},
    ...block.items.map((item) => listItem(item, block.loose))),
  table: (block) => scrolled(make("table", {},
    make("thead", {}, make("tr", {}, ...block.head.map((text, n) => cell("th", text, block.sides[n])))),
    make("tbody", {}, ...block.rows.map((row) =>
      make("tr", {}, ...block.head.map((_, n) => cell("td", row[n] ?? "", block.sides[n]))))))),
};

const drawn = (block) => DRAWERS[block.kind](block);
const cell = (tag, text, side) => make(tag, { className: side || undefined }, ...nodes(text));

export const scrolled = (table) => make("div", { className: "scrolled", tabindex: "0", role: "group", "aria-label": "Table" }, table);

function listItem(blocks, loose) {
  const task = blocks[0]?.kind === "paragraph" && blocks[0].text.match(/^\[([ xX])\] /);
  if (task) blocks[0] = { ...blocks[0], text: blocks[0].text.slice(4) };
  const box = task ? [make("span", { className: "box", text: task[1] === " " ? "☐ " : "☑ " })] : [];
  const inside = blocks.flatMap((block) => (block.kind === "paragraph" && !loose ? nodes(block.text) : [drawn(block)]));
  return make("li", task ? { className: "task" } : {}, ...box, ...inside);
}

function codeBlock({ text, language }) {
  const copy = button("Copy", async () => {
    toast(await copyText(text) ? "Code copied." : "The browser did not allow copying.");
  }, { className: "quiet", "aria-label": "Copy code" });
  const head = make("div", { className: "code-head" }, make("span", { text: language }), copy);
  const lines = coloured(text.split("\n"), language);
  const code = make("code", {}, ...lines.flatMap((line, n) => (n ? ["\n", ...line] : line)));
  return make("div", { className: "code" }, head, make("pre", {}, code));
}

const INLINE = {
  code: ({ text }) => make("code", { text }),
  br: () => make("br"),
  soft: () => "\n",
  strong: ({ children }) => make("strong", {}, ...children.map(node)),
  em: ({ children }) => make("em", {}, ...children.map(node)),
  del: ({ children }) => make("del", {}, ...children.map(node)),
  link: ({ href, children }) => make("a", { href, title: href, rel: "noopener noreferrer nofollow", target: "_blank" },
    ...children.map(node)),
  unlinked: ({ address, children }) => make("span", { className: "unlinked" }, ...children.map(node),
    make("span", { className: "address", text: address ? ` (${address})` : "" })),
  image: ({ address, children }) => make("span", { className: "unlinked" }, "[image: ", ...children.map(node),
    make("span", { className: "address", text: ` ${address}` }), "]"),
};

const node = (one) => (one.kind ? INLINE[one.kind](one) : one.text);
const nodes = (text) => inline(text).map(node);
