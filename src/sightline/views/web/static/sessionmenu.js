// What can be done with a session in the list: rename, archive, end and delete it. Nothing is deleted before its title
// was shown and the deletion confirmed; the server refuses what the command line refuses.

import * as api from "./api.js";
import { button, byId, setText } from "./dom.js";
import { Menu } from "./menu.js";
import { toast } from "./announce.js";

export class SessionMenu {
  // onDeleted(session): it is gone.
  constructor(onDeleted) {
    this.onDeleted = onDeleted;
    this.menu = new Menu(byId("session-menu"));
    this.renaming = byId("rename");
    this.deleting = byId("delete");
    this.newTitle = byId("rename-to");
    byId("rename-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.rename();
    });
    byId("rename-cancel").addEventListener("click", () => this.renaming.close());
    byId("delete-cancel").addEventListener("click", () => this.deleting.close());
    byId("delete-confirm").addEventListener("click", () => this.delete());
  }

  open(session, title, opener) {
    this.session = session;
    this.title = title;
    const runs = session.state === "running";
    this.menu.open(opener, `Actions for ${title}`, [
      session.agent && button("Rename…", () => this.askTitle()),
      session.agent && button(session.archived ? "Unarchive" : "Archive", () => this.archive(!session.archived)),
      runs && button("End session", () => this.end()),
      session.agent && button(runs ? "Delete… (end it first)" : "Delete…", () => this.askDelete(), { className: "danger", disabled: runs }),
    ].filter(Boolean));
  }

  askTitle() {
    this.newTitle.value = this.title;
    this.problem("rename-problem", "");
    this.renaming.showModal();
    this.newTitle.select();
  }

  askDelete() {
    setText(byId("delete-what"), this.title);
    this.problem("delete-problem", "");
    this.deleting.showModal();
  }

  async rename() {
    const title = this.newTitle.value.trim();
    if (await this.done("rename-problem", () => api.rename(this.session.id, title), `Renamed to: ${title}`)) this.renaming.close();
  }

  async delete() {
    if (!await this.done("delete-problem", () => api.remove(this.session.id), "Session deleted.")) return;
    this.deleting.close();
    this.onDeleted(this.session.id);
  }

  async archive(archived) {
    await this.done("", () => api.archive(this.session.id, archived), archived ? "Session archived." : "Session is back in the list.");
  }

  async end() {
    await this.done("", () => api.stop(this.session.id), "Session ended.");
  }

  // `place`: where a refusal is shown; empty: briefly, above all.
  async done(place, act, words) {
    try {
      await act();
    } catch (error) {
      if (place) this.problem(place, error.message);
      else toast(error.message);
      return false;
    }
    toast(words);
    return true;
  }

  problem(place, text) {
    setText(byId(place), text);
    byId(place).hidden = !text;
  }
}
