// Shows notifications where a page itself may not (phones), and brings its tab to the front. It answers no request and
// stores nothing.

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data.session));
});

async function show(session) {
  const [tab] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!tab) return self.clients.openWindow(`/#${session}`);
  tab.postMessage({ session });
  return tab.focus();
}
