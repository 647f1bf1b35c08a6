// How the page says sizes, durations and states. A state is always a sign and a word, never a colour alone.

const STATES = {
  running: { sign: "●", word: "running" },
  ok: { sign: "✓", word: "ok" },
  failed: { sign: "✗", word: "failed" },
  cancelled: { sign: "⊘", word: "cancelled" },
  timed_out: { sign: "◷", word: "timed out" },
  refused: { sign: "⊘", word: "refused" },
  job: { sign: "↗", word: "running in background" },
  lost: { sign: "?", word: "lost" },
  working: { sign: "●", word: "working" },
  waiting: { sign: "◆", word: "waits for you" },
  idle: { sign: "○", word: "idle" },
  ended: { sign: "·", word: "ended" },
};

export const stateOf = (name) => STATES[name] ?? { sign: "·", word: String(name ?? "unknown") };

const number = new Intl.NumberFormat("en");
const moment = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export const count = (value, one, many) => `${number.format(value)} ${value === 1 ? one : many}`;
export const digits = (value) => number.format(value);
export const when = (epoch) => (epoch ? moment.format(new Date(epoch * 1000)) : "");

export function bytes(size) {
  if (size < 1000) return `${size} B`;
  for (const [unit, factor] of [["KB", 1e3], ["MB", 1e6], ["GB", 1e9]]) {
    const value = size / factor;
    if (value < 1000 || unit === "GB") return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
  }
  return "";
}

// Tokens: what matters is their order of magnitude.
export function tokens(value) {
  if (value < 1000) return String(value);
  return value < 1e6 ? `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)}k` : `${(value / 1e6).toFixed(1)}M`;
}

// A running clock shows whole seconds: tenths would flicker without telling more.
export function seconds(value, { running = false } = {}) {
  const whole = Math.max(0, Math.floor(value));
  if (whole < 60) return running ? `${whole} s` : `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`;
  const pad = (part) => String(part).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} m`;
}
