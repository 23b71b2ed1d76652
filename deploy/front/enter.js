// Turns the admission token of the address's fragment into the shop's cookie, and goes on.
'use strict';

const SHOP = '/checkout/';

async function enter() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get('token');
  // Out of the address, so that it is not shown, kept in the history or copied along.
  history.replaceState(null, '', location.pathname);
  if (!token) return location.replace(SHOP);
  const answer = await fetch('/enter/token', { headers: { authorization: `Bearer ${token}` } });
  // Without a cookie the shop sends its visitor to the waiting room by itself.
  if (!answer.ok && answer.status !== 401 && answer.status !== 403) throw new Error(String(answer.status));
  location.replace(ownPath(fragment.get('return_to')) || SHOP);
}

// Only within this shop: an address from outside must not send anybody elsewhere.
function ownPath(address) {
  try {
    const asked = new URL(address);
    return asked.origin === location.origin ? asked.pathname + asked.search : null;
  } catch {
    return null;
  }
}

enter().catch(() => {
  document.getElementById('said').textContent = 'The connection was lost. Please go back and try once more.';
});
