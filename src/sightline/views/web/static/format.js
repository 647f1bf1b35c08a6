// How the page writes sizes, durations and states, with the signs and words of the console (tests hold some of it). A state
// is always a sign and a word, never a colour alone.

const STATES = {
  running: { sign: "◌", word: "running" },
  ok: { sign: "✓", word: "ok" },
  failed: { sign: "✕", word: "failed" },
  cancelled: { sign: "–", word: "cancelled" },
  unanswered: { sign: "–", word: "not answered" },
  unfinished: { sign: "–", word: "not run" },
  timed_out: { sign: "✕", word: "timed out" },
  refused: { sign: "✕", word: "refused" },
  job: { sign: "↗", word: "running in background" },
  lost: { sign: "?", word: "lost" },
  working: { sign: "◌", word: "working" },
  waiting: { sign: "◆", word: "waits for you" },
  idle: { sign: "○", word: "idle" },
  parked: { sign: "–", word: "parked" },
  stopped: { sign: "–", word: "stopped by you" },
  aborted: { sign: "–", word: "aborted" },
  ended: { sign: "·", word: "ended" },
};

export const stateOf = (name) => STATES[name] ?? { sign: "·", word: String(name ?? "unknown") };

const number = new Intl.NumberFormat("en");
const moment = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export const count = (value, one, many) => `${number.format(value)} ${value === 1 ? one : many}`;
export const digits = (value) => number.format(value);
export const when = (epoch) => (epoch ? moment.format(new Date(epoch * 1000)) : "");

// For a narrow list: the time alone when it was today.
export function whenShort(epoch) {
  const date = new Date(epoch * 1000);
  return epoch && date.toDateString() === new Date().toDateString() ? time.format(date) : when(epoch);
}

export function bytes(size) {
  if (size < 1000) return `${size} B`;
  for (const [unit, factor] of [["KB", 1e3], ["MB", 1e6], ["GB", 1e9]]) {
    const value = size / factor;
    if (value < 1000 || unit === "GB") return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
  }
  return "";
}

// Tokens: `950`, `12.3k`, `128k`, `1M`, `1.2M`.
export function tokens(value) {
  const short = (size) => size.toFixed(1).replace(/\.0$/, "");
  if (value < 1000) return String(Math.trunc(value));
  if (value < 99_950) return `${short(value / 1e3)}k`;
  return value < 999_500 ? `${Math.round(value / 1e3)}k` : `${short(value / 1e6)}M`;
}

export const dollars = (cost) => `$${cost.toFixed(cost < 0.01 ? 4 : 2)}`;

export function seconds(value) {
  const whole = Math.max(0, Math.floor(value));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
