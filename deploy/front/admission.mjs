// Is this admission good? With jose 5 or newer (`npm install jose`).
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

const ROOM = process.env.WAITING_ROOM_URL ?? 'https://queue.shop.example';
const EVENT = 'my-concert';

// Keeps the keys, and asks again when a token names one that it does not know: keys may rotate.
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', ROOM));

/** The token's claims (`sub` is the person, `number` the place), or null. */
export async function admission(token) {
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ['EdDSA'], // never what the token itself says
      audience: 'checkout',
      issuer: 'stanchion',
      clockTolerance: 5,
      requiredClaims: ['exp', 'iat', 'nbf', 'sub'],
    });
    return payload.event === EVENT ? payload : null;
  } catch (error) {
    // A waiting room that does not answer is trouble of ours, not of the visitor's.
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw error;
    return null;
  }
}
