// A notification when a session waits for an answer and this tab is not in front. Permission is requested on a click only,
// and there is one for each time a session begins to wait.

import { byId } from "./dom.js";
import { toast } from "./announce.js";

const WORKER = "/static/worker.js";

export class Notices {
  // onOpen(session): a notification was clicked.
  constructor(onOpen) {
    this.onOpen = onOpen;
    this.waiting = new Set();
    this.button = byId("notify");
    this.button.addEventListener("click", () => this.ask());
    this.button.hidden = !("Notification" in window) || Notification.permission !== "default";
    navigator.serviceWorker?.addEventListener("message", (event) => onOpen(event.data.session));
  }

  async ask() {
    const permission = await Notification.requestPermission();
    this.button.hidden = permission !== "default";
    if (permission === "granted") toast("You get a notification when a session waits for you.");
    if (permission === "denied") toast("The browser blocks notifications for this page.");
  }

  // sessions: [{ id, title }] that wait now.
  take(sessions) {
    const fresh = sessions.filter(({ id }) => !this.waiting.has(id));
    this.waiting = new Set(sessions.map(({ id }) => id));
    if (document.hasFocus() && !document.hidden) return;
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    for (const one of fresh) this.show(one);
  }

  async show({ id, title }) {
    const options = { body: title, tag: id, icon: "/static/icon-192.png", data: { session: id } };
    const worker = await navigator.serviceWorker?.register(WORKER).then((one) => active(one)).catch(() => null);
    if (worker) return worker.showNotification("A session waits for you", options);
    const notification = new Notification("A session waits for you", options);
    notification.addEventListener("click", () => {
      window.focus();
      notification.close();
      this.onOpen(id);
    });
    return notification;
  }
}

function active(registration) {
  if (registration.active) return registration;
  return new Promise((done) => {
    const starting = registration.installing ?? registration.waiting;
    starting.addEventListener("statechange", () => { if (registration.active) done(registration); });
  });
}
