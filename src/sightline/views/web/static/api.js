// What the page asks of the server, each request with the token. A refusal becomes an ApiError whose message can be
// shown as it is.

import { token } from "./token.js";

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const SIGN_IN = "This page is not signed in. Open the address that sightline serve printed.";

const job = (id, rest = "") => `/api/jobs/${encodeURIComponent(id)}${rest}`;

async function ask(url, options = {}) {
  let response;
  try {
    response = await fetch(url, { ...options, headers: { ...options.headers, Authorization: `Bearer ${token()}` } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The server cannot be reached.");
  }
  if (!response.ok) throw new ApiError(response.status, await refusal(response));
  return response;
}

async function refusal(response) {
  if (response.status === 401) return SIGN_IN;
  let body = {};
  try {
    body = await response.json();
  } catch { /* not every refusal has a JSON body; the status is enough */ }
  const what = body?.error ?? body?.message ?? body?.detail ?? `The server answered ${response.status}.`;
  return body?.hint ? `${what} ${body.hint}` : String(what);
}

const post = (url, body) => ask(url, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}),
});

export const rows = async (id, first, count, signal) =>
  (await ask(job(id, `/rows?first=${first}&count=${count}`), { signal })).json();

export const find = async (id, text, first, limit, signal) =>
  (await ask(job(id, `/find?text=${encodeURIComponent(text)}&first=${first}&limit=${limit}`), { signal })).json();

export const cancel = (id) => post(job(id, "/cancel"));

export async function text(id) {
  const response = await ask(job(id, "/text"));
  return { text: await response.text(), cut: Number(response.headers.get("X-Sightline-Cut") ?? 0) };
}

// A file may be larger than a page can hold, so the browser gets it by itself, from an address that is good once.
export async function download(id) {
  const { url } = await (await post(job(id, "/download"))).json();
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
}

export const page = (session, after, signal) => {
  const query = new URLSearchParams();
  if (session) query.set("session", session);
  if (session && after) query.set("after", after);
  return ask(`/api/page?${query}`, { signal, cache: "no-store" });
};

export const image = async (session, name) =>
  (await ask(`/api/sessions/${encodeURIComponent(session)}/images/${encodeURIComponent(name)}`)).blob();

export const start = async (body, session) =>
  (await post(session ? `/api/sessions/${encodeURIComponent(session)}/jobs` : "/api/sessions", body)).json();

// Sessions with a conversation that has all these words.
export const search = async (text, signal) => (await ask(`/api/search?${new URLSearchParams({ text })}`, { signal })).json();

// What a session can be started with in a folder.
export const agentChoices = async (cwd, signal) => (await ask(`/api/agents?${new URLSearchParams({ cwd })}`, { signal })).json();

export const startAgent = async (body) => (await post("/api/agents", body)).json();

const talk = (session, rest) => `/api/sessions/${encodeURIComponent(session)}/${rest}`;

// `agent`: the path of a subagent it is for.
export const prompt = (session, text, how, agent = "") => post(talk(session, "prompt"), agent ? { text, how, agent } : { text, how });

export const resume = (session) => post(talk(session, "resume"));

export const shell = (session, text, isPrivate) => post(talk(session, "shell"), { text, private: isPrivate });

// `agent`: the path of a subagent; without it the agent of the session.
export const abort = async (session, agent = "") => (await post(talk(session, "abort"), agent ? { agent } : {})).json();

export const unqueue = async (session) => (await post(talk(session, "unqueue"))).json();

export const answer = (session, request, value) => post(talk(session, `requests/${encodeURIComponent(request)}`), { answer: value });

// All there is to know about an open request that is too long for the page's own events.
export const requestDetails = async (session, request) =>
  (await ask(talk(session, `requests/${encodeURIComponent(request)}`))).json();

// The messages between agents before one, by its place, and one with all of its text.
export const mail = async (session, before) => (await ask(talk(session, `mail?before=${before}`))).json();

export const oneMail = async (session, id) => (await ask(talk(session, `mail/${encodeURIComponent(id)}`))).json();

export const sendMail = async (session, body) => (await post(talk(session, "mail"), body)).json();

export const askAside = (session, text) => post(talk(session, "btw"), { text });

export const review = (session, text) => post(talk(session, "review"), { text });

export const reviewChoices = async (session) => (await ask(talk(session, "review"))).json();

export const dismissFinding = (session, review, finding, dismissed) => post(talk(session, "findings"), { review, finding, dismissed });

export const compact = async (session, focus) => (await post(talk(session, "compact"), { focus })).json();

export const setModel = async (session, body) => (await post(talk(session, "model"), body)).json();

export const stop = (session) => post(talk(session, "stop"));

export const rename = (session, title) => post(talk(session, "rename"), { title });

export const archive = (session, archived) => post(talk(session, "archive"), { archived });

export const remove = (session) => post(talk(session, "delete"));

export const setApproval = async (session, level) => (await post(talk(session, "approval"), { level })).json();
