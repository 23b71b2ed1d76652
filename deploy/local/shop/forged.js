// Admission tokens that must not be good, made from a good one.

import { config, send } from "./api.js";

const text = new TextEncoder();

function encoded(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(part) {
  const binary = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))));
}

const json = (value) => encoded(text.encode(JSON.stringify(value)));

async function hmac(secret, message) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(secret), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(message)));
}

// A key of our own making; random bytes where the browser cannot make one.
async function foreign(message) {
  try {
    const { privateKey } = await crypto.subtle.generateKey("Ed25519", false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, text.encode(message)));
  } catch {
    return crypto.getRandomValues(new Uint8Array(64));
  }
}

/** Names and tokens. */
export async function forgeries(good) {
  const [head, payload, signature] = good.split(".");
  const [header, claims] = [decoded(head), decoded(payload)];
  const jwks = await send("GET", `${config.waiting_room_url}/.well-known/jwks.json`);
  const published = jwks.body.keys.find((key) => key.kid === header.kid) ?? jwks.body.keys[0];
  const none = json({ ...header, alg: "none" });
  const symmetric = json({ ...header, alg: "HS256" });
  const somebody = json({ ...claims, sub: crypto.randomUUID() });
  const longer = json({ ...claims, exp: claims.exp + 86_400 });
  return {
    "signed by nobody (alg none)": `${none}.${payload}.`,
    "alg none, with the old signature": `${none}.${payload}.${signature}`,
    "HS256 with the public key as the secret": `${symmetric}.${payload}.${encoded(await hmac(published.x, `${symmetric}.${payload}`))}`,
    "signed by a key of our own": `${head}.${payload}.${encoded(await foreign(`${head}.${payload}`))}`,
    "somebody else’s name put in": `${head}.${somebody}.${signature}`,
    "a day added to its time": `${head}.${longer}.${signature}`,
    "without its signature": `${head}.${payload}.`,
    "no token at all": "",
    "not a token": "let-me-in",
  };
}

/** When a token ends, in milliseconds since 1970. */
export function endOf(token) {
  return decoded(token.split(".")[1]).exp * 1000;
}
