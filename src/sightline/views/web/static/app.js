// Puts the page together: the stream brings, the list and the transcript show, the address names what is chosen
// (#session, #job, #session&agent=path, #session&mail, or #session&mail=m3).

import { namedIn } from "./agents.js";
import * as api from "./api.js";
import { forgetColours } from "./colours.js";
import { byId, setText } from "./dom.js";
import { reasoningIsShown, showReasoning } from "./entries.js";
import { count, when } from "./format.js";
import { Keys } from "./keys.js";
import { List, folderOf, titleOf } from "./list.js";
import { Mail } from "./mail.js";
import { NewSession } from "./newsession.js";
import { Notices } from "./notify.js";
import { takeDismissed } from "./findings.js";
import { Requests } from "./requests.js";
import { ReviewDialog } from "./reviewdialog.js";
import { announce, toast } from "./announce.js";
import { SessionMenu } from "./sessionmenu.js";
import { SessionSearch } from "./sessionsearch.js";
import { StartForm } from "./start.js";
import { Status } from "./status.js";
import { Stream } from "./stream.js";
import { Talk } from "./talk.js";
import { takeToken } from "./token.js";
import { Transcript } from "./transcript.js";

const NEW = "new"; // the address of the form that starts a session
const ASK = "Ask for something below.";

const menu = new SessionMenu((session) => { if (session === chosen) location.hash = NEW; });
const list = new List((session, title, opener) => menu.open(session, title, opener));
const sessionSearch = new SessionSearch(list);
const transcript = new Transcript(showEmptiness);
const start = new StartForm(({ job }) => { location.hash = job; });
const review = new ReviewDialog();
const talk = new Talk({
  sent: () => transcript.follow(), create: () => { location.hash = NEW; }, sessions: searchSessions,
  review: (about) => review.open(chosen, about), mail: () => mail.reveal(""),
});
const newSession = new NewSession(started);
const notices = new Notices((session) => { location.hash = session; });
const status = new Status();
const mail = new Mail();
const requests = new Requests(() => talk.focus());
let facts = {};
let running = 0;
let chosen = null;
let connected = false;
let listed = false;
let wasLost = false;
let gone = false;
let signedOut = false;
let goingTo = null; // the session whose request is to have the focus as soon as it is there

const stream = new Stream({
  list: takeList,
  facts: takeFacts,
  entries: (message) => transcript.take(message),
  mail: (message) => mail.take(message),
  rows: (message) => transcript.takeRows(message),
  status: (message) => transcript.takeStatus(message),
  gone: () => { gone = true; showEmptiness(); },
  connection: showConnection,
});

new Keys({
  neighbour: (by) => transcript.neighbour(by),
  sessions: showSessions,
  start: () => (newSession.shown ? newSession.focus() : talk.usable ? talk.focus() : start.focus()),
  create: () => { location.hash = NEW; },
  requests: nextWaiting,
  escape: () => {
    if (!narrow.matches || byId("columns").classList.contains("list-closed")) return;
    showSidebar(false);
    byId("toggle-list").focus();
  },
});

function showSessions() {
  showSidebar(true);
  (document.querySelector(".sessions [aria-current]") ?? document.querySelector(".sessions a"))?.focus();
}

// `words`: what they are searched for; empty: all of them.
function searchSessions(words) {
  sessionSearch.search(words);
  if (!words) return showSessions();
  showSidebar(true);
  return sessionSearch.focus();
}

function takeList(message) {
  const { sessions } = message;
  list.take(message);
  if (!listed) {
    listed = true;
    if (location.hash.length > 1) fromAddress(); // only the list distinguishes a job's id from a recording's
  }
  running = sessions.flatMap((session) => session.jobs ?? []).filter((job) => job.state === "running").length;
  showTitle();
  if (!chosen) chooseFirst(sessions);
  showHead();
  showEmptiness();
}

// What waits in the session that is shown is shown by its card, and nowhere else while the card can be seen. The head
// counts other sessions; the tab's title also counts this one while the tab is hidden.
function showTitle() {
  const others = list.waiting.filter((session) => session.id !== chosen);
  const here = facts.requests?.length ? [{ id: chosen, title: requests.title || titleOf(list.find(chosen) ?? {}) }] : [];
  byId("waits").hidden = others.length === 0;
  setText(byId("waits"), others.length ? `${count(others.length, "session waits", "sessions wait")} for you` : "");
  const working = list.working.length;
  setText(byId("counts"), [working && `${working} working`, running && `${count(running, "job", "jobs")} running`].filter(Boolean).join(" · "));
  const waiting = others.length + (document.hidden ? here.length : 0);
  const sign = waiting ? `(!${waiting > 1 ? waiting : ""}) ` : running ? `(${running}) ` : "";
  document.title = `${sign}${facts.ui_title || "Sightline"}`;
  notices.take([...here, ...others.map((session) => ({ id: session.id, title: titleOf(session) }))]);
}

// A session that was started here: shown, and sent the first prompt.
async function started(session, prompt) {
  location.hash = session;
  if (!prompt) return;
  try {
    await api.prompt(session, prompt, "prompt");
  } catch (error) {
    talk.offer(session, prompt, error.message);
  }
}

// What is to be answered here, then in the next session that waits, and round again.
function nextWaiting() {
  if (requests.focusNext()) return;
  const waiting = list.waiting.map((session) => session.id);
  const next = waiting[(waiting.indexOf(chosen) + 1) % waiting.length];
  if (next && next !== chosen) {
    goingTo = next;
    location.hash = next;
  } else if (!requests.focusNext({ around: true })) toast("No session waits for you.");
}

function focusWhereGone() {
  if (goingTo !== chosen || facts.live === undefined) return;
  goingTo = null;
  requests.focusNext();
}

function takeFacts(message) {
  if (facts.running && message.running === false) announce("The agent has finished");
  facts = message;
  const talking = Boolean(chosen && facts.talks);
  talk.take(facts);
  status.take(facts);
  mail.know(facts);
  requests.take(chosen, facts.requests ?? []);
  list.know(facts);
  transcript.know(facts);
  takeDismissed(facts.dismissed_findings);
  byId("start").hidden = talking;
  byId("reasoning-switch").hidden = !talking;
  showTitle();
  showEmptiness();
  focusWhereGone();
}

function chooseFirst(sessions) {
  if (location.hash.length > 1 || newSession.used) return;
  const listed = sessions.filter((session) => !session.archived);
  if (listed.length === 0) {
    showNew(true);
    return;
  }
  const busy = listed.find((session) => session.jobs?.some((job) => job.state === "running"))
    ?? listed.find((session) => session.agent && session.state === "running");
  history.replaceState(null, "", `#${(busy ?? listed[0]).id}`);
  fromAddress();
}

// A job's id is its session's with a number: `k3m9qz-1`. Recordings may be named otherwise, and the list knows them.
function fromAddress() {
  const { named, agent, mail: message } = namedIn(location.hash);
  const before = list.find(chosen);
  if (named === NEW) {
    if (chosen) choose(null);
    showNew(true, before?.kind === "session" ? before.cwd : "");
    newSession.focus();
    return;
  }
  showNew(false);
  const session = list.find(named) ? named : named.replace(/-\d+$/, "");
  const call = session === named ? null : named;
  if (session !== chosen) choose(session || null);
  if (call) transcript.reveal(call);
  if (agent) transcript.revealAgent(agent);
  if (message !== null) mail.reveal(message);
}

function choose(session) {
  chosen = session;
  if (goingTo !== chosen) goingTo = null;
  gone = false;
  transcript.clear(chosen ?? "");
  talk.choose(chosen);
  status.choose(chosen);
  mail.choose(chosen);
  list.choose(chosen);
  takeFacts({});
  stream.watch(chosen);
  showHead();
  if (narrow.matches) showSidebar(false);
}

function showNew(shown, cwd = "") {
  newSession.show(shown, cwd);
  if (shown) byId("new-session").setAttribute("aria-current", "page");
  else byId("new-session").removeAttribute("aria-current");
  if (shown && narrow.matches) showSidebar(false);
  showEmptiness();
}

function showHead() {
  const session = list.find(chosen);
  start.setSession(session);
  byId("session-head").hidden = !session;
  if (!session) return;
  setText(byId("session-title"), titleOf(session));
  setText(byId("session-facts"), [session.id, folderOf(session), when(session.started)].filter(Boolean).join(" · "));
}

function showEmptiness() {
  const empty = byId("empty");
  empty.hidden = transcript.size > 0 || (newSession.shown && (listed || !signedOut));
  if (signedOut && !listed) setText(empty, api.SIGN_IN);
  else if (gone) setText(empty, "This session no longer exists.");
  else if (talk.usable) setText(empty, ASK);
  else if (connected) setText(empty, "Nothing here yet.");
}

function showConnection(state, detail) {
  connected = state === "open";
  const banner = byId("banner");
  if (connected && wasLost) transcript.reconnected();
  wasLost = !connected;
  signedOut = state === "refused";
  document.body.classList.toggle("signed-out", signedOut); // what was read before stays; no request can be sent
  const isBare = signedOut && !listed;
  setText(banner, isBare ? "" : detail ?? "");
  banner.hidden = connected || isBare;
  showEmptiness();
}

const narrow = matchMedia("(max-width: 760px)");

function showSidebar(open) {
  byId("columns").classList.toggle("list-closed", !open);
  byId("toggle-list").setAttribute("aria-expanded", String(open));
}

document.addEventListener("visibilitychange", showTitle);
byId("entries").addEventListener("write", ({ detail }) => {
  if (talk.usable) talk.add(detail);
  else toast("The session has ended. Resume it first.");
});
byId("waits").addEventListener("click", nextWaiting);
byId("toggle-list").addEventListener("click", () => showSidebar(byId("columns").classList.contains("list-closed")));
narrow.addEventListener("change", () => showSidebar(!narrow.matches));
showSidebar(!narrow.matches);

byId("show-reasoning").checked = reasoningIsShown();
byId("show-reasoning").addEventListener("change", (event) => showReasoning(event.target.checked));

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the session
  byId("transcript").focus();
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  forgetColours();
  for (const block of transcript.blocks.values()) block.rows.redrawAll();
});
addEventListener("resize", () => { for (const block of transcript.blocks.values()) block.changed(); });
addEventListener("hashchange", () => {
  if (takeToken()) stream.retryNow(); // the URL a restarted server printed, opened in a tab of the one before
  fromAddress();
});

takeToken();
if (location.hash.length > 1) fromAddress();
else stream.watch(null);
