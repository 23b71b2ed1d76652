"""Is this admission good? With PyJWT 2 (`pip install 'pyjwt[crypto]'`)."""

import os

import jwt

ROOM = os.environ.get("WAITING_ROOM_URL", "https://queue.shop.example")
EVENT = "my-concert"

# Keeps the keys, and asks again when a token names one that it does not know: keys may rotate.
keys = jwt.PyJWKClient(f"{ROOM}/.well-known/jwks.json", lifespan=60)


def admission(token):
    """The token's claims (`sub` is the person, `number` his place), or None."""
    try:
        claims = jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token),
            algorithms=["EdDSA"],  # never what the token itself says
            audience="checkout",
            issuer="stanchion",
            leeway=5,
            options={"require": ["exp", "iat", "nbf", "sub"]},
        )
    except jwt.InvalidTokenError:
        return None
    except jwt.PyJWKClientError as error:
        # An unknown key is a bad token; a waiting room that does not answer is trouble of ours.
        if isinstance(error, jwt.PyJWKClientConnectionError):
            raise
        return None
    return claims if claims.get("event") == EVENT else None
