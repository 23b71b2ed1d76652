//! `POST /dashboard/sign-in` and `…/sign-out`: a browser's session instead of a token with each request.

use std::net::SocketAddr;

use axum::Extension;
use axum::extract::ConnectInfo;
use axum::response::IntoResponse;
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use utoipa::ToSchema;

use super::SessionBody;
use super::access::{Access, by_own_page};
use super::sessions::Sessions;
use crate::problem::{Code, Json, Problem};
use crate::problems;

problems!(SignInProblems: InvalidToken, RateLimited, UnsupportedMediaType);
problems!(SignOutProblems: CrossSite);

/// Who wants to sign in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SignIn)]
pub(super) struct SignInBody {
    /// `STANCHION_OPS_TOKEN`, or `STANCHION_OPS_READ_TOKEN` to read and change nothing.
    token: String,
}

/// 200 with a cookie that is good for twelve hours.
///
/// At most ten attempts a minute from one address.
#[utoipa::path(
    post,
    path = "",
    tag = "Service",
    summary = "Sign a browser in",
    request_body = SignInBody,
    security(()),
    responses(
        (
            status = 200, description = "What the token allows.", body = SessionBody,
            headers(("Set-Cookie" = String, description = "The session: `HttpOnly`, `SameSite=Strict`.")),
        ),
        SignInProblems,
    ),
)]
pub(super) async fn sign_in(
    Extension(access): Extension<Access>,
    Extension(ConnectInfo(address)): Extension<ConnectInfo<SocketAddr>>,
    Json(body): Json<SignInBody>,
) -> Result<impl IntoResponse, Problem> {
    let sessions = offered(&access)?;
    let address = address.ip();
    sessions.begin(address).map_err(|seconds| {
        tracing::warn!(%address, "too many attempts to sign in");
        let detail = "That were too many attempts to sign in. Wait a minute.";
        Problem::new(Code::RateLimited, detail).retry_after_seconds(seconds)
    })?;
    let role = access.role(&body.token).ok_or_else(|| {
        tracing::warn!(%address, "a wrong token to sign in with");
        Problem::new(Code::InvalidToken, "That is not the ops token.")
    })?;
    let cookie = sessions.start(&access, role, address)?;
    tracing::info!(%address, ?role, "signed in");
    let headers = [(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, NO_STORE)];
    Ok((headers, axum::Json(SessionBody { role })))
}

const NO_STORE: http::HeaderValue = http::HeaderValue::from_static("no-store");

/// 204: the session is over, also for whoever has a copy of its cookie.
#[utoipa::path(
    post,
    path = "",
    tag = "Service",
    summary = "Sign a browser out",
    security(()),
    responses(
        (
            status = 204, description = "The session is over.",
            headers(("Set-Cookie" = String, description = "Takes the cookie away.")),
        ),
        SignOutProblems,
    ),
)]
pub(super) async fn sign_out(
    Extension(access): Extension<Access>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    by_own_page(&headers)?;
    let cookie = offered(&access)?.end(&access, &headers)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]))
}

fn offered(access: &Access) -> Result<&Sessions, Problem> {
    access.sessions().ok_or_else(Problem::not_found)
}
