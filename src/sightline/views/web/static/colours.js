// Colours a command asked for, made readable: the sixteen named ones are chosen in CSS for each scheme; all others, and
// any pair of foreground and background, are moved towards black or white until they reach WCAG AA on what is behind.

const READABLE = 4.5;
const CUBE = [0, 95, 135, 175, 215, 255];

let scheme = null;
const made = new Map(); // "fg/bg/dim" → what to set; programs use few pairs, so this stays small
const MADE_MAX = 4096;

export function forgetColours() {
  scheme = null;
  made.clear();
}

function current() {
  if (scheme) return scheme;
  const style = getComputedStyle(document.documentElement);
  const read = (name) => parse(style.getPropertyValue(name).trim());
  scheme = { ink: read("--term-ink"), paper: read("--term"), named: [] };
  for (let index = 0; index < 16; index += 1) scheme.named.push(read(`--ansi${index}`));
  return scheme;
}

function parse(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function resolve(colour, fallback) {
  if (colour === undefined || colour === null) return fallback;
  if (typeof colour === "string") return /^#[0-9a-f]{6}$/i.test(colour) ? parse(colour) : fallback;
  if (colour < 16) return current().named[colour] ?? fallback;
  if (colour >= 232) return Array(3).fill(8 + (colour - 232) * 10);
  const index = colour - 16;
  return [CUBE[Math.floor(index / 36)], CUBE[Math.floor(index / 6) % 6], CUBE[index % 6]];
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const mix = (a, b, share) => a.map((part, index) => Math.round(part + (b[index] - part) * share));

function readable(ink, paper) {
  const goal = luminance(paper) > 0.18 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.1) {
    const tried = mix(ink, goal, share);
    if (contrast(tried, paper) >= READABLE) return tried;
  }
  return goal;
}

const css = (rgb) => `rgb(${rgb.join(" ")})`;

// What a style's colours come to: { className } when CSS knows it, else { color, background } to set on the element.
export function coloursOf(style) {
  if (!style.v && style.b === undefined && !style.d && (style.f === undefined || style.f < 16)) {
    return style.f === undefined ? {} : { className: `f${style.f}` };
  }
  const key = `${style.f}/${style.b}/${style.v}/${style.d}`;
  let result = made.get(key);
  if (!result) {
    if (made.size >= MADE_MAX) made.clear();
    result = compute(style);
    made.set(key, result);
  }
  return result;
}

function compute(style) {
  const { ink, paper } = current();
  let front = resolve(style.f, ink);
  let back = resolve(style.b, paper);
  if (style.v) [front, back] = [back, front];
  if (style.d) front = mix(front, back, 0.35);
  const painted = style.v || (style.b !== undefined && style.b !== null);
  return { color: css(readable(front, back)), background: painted ? css(back) : "" };
}
