// The token that signs this page in. Rules:
// - It comes behind the # of the printed URL, which no browser sends to any server, and leaves the address at once.
// - It is stored for this origin, port included, so that a reload and a second tab are signed in and no other server on
//   this machine is; the cookie of a host would go to all its ports.
// - A link in the older form, with ?token=, works too.

const STORED = "sightline-token";
let unstored = ""; // where a browser stores nothing, it is good until the page is left

export function token() {
  try {
    return localStorage.getItem(STORED) ?? unstored;
  } catch {
    return unstored;
  }
}

// Moves the token out of the address: #token=TOKEN, or #token=TOKEN&SESSION, with what follows it. Whether there was one.
export function takeToken() {
  const [, given, named] = /^#token=([\w-]+)(?:&(.*))?$/.exec(location.hash) ?? [];
  const found = given ?? new URLSearchParams(location.search).get("token");
  if (!found) return false;
  const rest = given ? named : location.hash.slice(1);
  history.replaceState(null, "", rest ? `${location.pathname}#${rest}` : location.pathname);
  unstored = found;
  try {
    localStorage.setItem(STORED, found);
  } catch { /* see above */ }
  return true;
}
