//! `/openapi.json` and `/docs`: what they say is what is served.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tests::client::{Answer, Client, send};
use tests::room::{RoomNode, single};

const FAR: &str = "2100-01-01T00:00:00Z";

/// A document, to hold answers against.
struct Document(Value);

impl Document {
    async fn of(client: &Client) -> Self {
        let answer = client.get("/openapi.json").await.expect(200);
        assert_eq!(answer.header("content-type"), "application/json");
        Self(answer.json())
    }

    /// Every call: method, path, description.
    fn calls(&self) -> Vec<(String, String, &Value)> {
        let items = self.0["paths"].as_object().expect("paths");
        let calls = items.iter().flat_map(|(path, item)| {
            let item = item.as_object().expect("an item");
            item.iter().map(move |(method, call)| (method.to_uppercase(), path.clone(), call))
        });
        calls.collect()
    }

    fn resolve<'a>(&'a self, part: &'a Value) -> &'a Value {
        match part["$ref"].as_str() {
            None => part,
            Some(target) => {
                let pointer = target.strip_prefix('#').expect("a reference within the document");
                let found = self.0.pointer(pointer);
                self.resolve(found.unwrap_or_else(|| panic!("{target} is not there")))
            }
        }
    }

    /// Holds an answer against what the document says of it.
    #[track_caller]
    fn describes(&self, call: &str, answer: &Answer) {
        let (method, path) = call.split_once(' ').expect("method and path");
        let call = &self.0["paths"][path][method.to_lowercase()];
        let response = &call["responses"][answer.status.to_string()];
        assert!(response.is_object(), "{method} {path} does not say {}: {answer:?}", answer.status);
        for name in response["headers"].as_object().expect("headers").keys() {
            let always = matches!(name.as_str(), "x-request-id" | "ETag" | "Cache-Control");
            assert!(!always || answer.headers.contains_key(name), "no {name}: {answer:?}");
        }
        let media = answer.header("content-type").split(';').next().unwrap_or_default();
        if media.is_empty() {
            assert_eq!(answer.text, "");
            return;
        }
        let schema = &response["content"][media]["schema"];
        assert!(schema.is_object(), "{method} {path} {} is not {media}", answer.status);
        let body =
            if media.ends_with("json") { answer.json() } else { Value::from(answer.text.as_str()) };
        if let Err(wrong) = self.fits(schema, &body) {
            panic!("{method} {path} {}: {wrong} in {}", answer.status, answer.text);
        }
    }

    /// Required fields are there, no others than described are there, and types match.
    fn fits(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let schema = self.resolve(schema);
        for choice in ["oneOf", "anyOf"] {
            let Some(choices) = schema[choice].as_array() else { continue };
            if !choices.iter().any(|schema| self.fits(schema, value).is_ok()) {
                return Err(format!("{value} is none of {choices:?}"));
            }
        }
        if let Some(values) = schema["enum"].as_array()
            && !values.contains(value)
        {
            return Err(format!("{value} is not of {values:?}"));
        }
        if !is_of_type(&schema["type"], value) {
            return Err(format!("{value} is not {}", schema["type"]));
        }
        for element in value.as_array().into_iter().flatten() {
            self.fits(&schema["items"], element)?;
        }
        let (fields, required) = self.fields(schema);
        for (name, member) in value.as_object().into_iter().flatten() {
            let mut described = fields.iter().filter(|(field, _)| field == name).peekable();
            let is_free = fields.is_empty() && schema["additionalProperties"] != json!(false);
            if described.peek().is_none() && !is_free {
                return Err(format!("{name} is not described"));
            }
            described.try_for_each(|(_, schema)| {
                self.fits(schema, member).map_err(|wrong| format!("{name}: {wrong}"))
            })?;
        }
        match required.iter().find(|name| value.is_object() && value.get(name).is_none()) {
            Some(name) => Err(format!("{name} is missing")),
            None => Ok(()),
        }
    }

    /// An object's fields and the names of those that must be there, through `allOf`.
    fn fields<'a>(&'a self, schema: &'a Value) -> (Vec<(String, &'a Value)>, Vec<&'a str>) {
        let schema = self.resolve(schema);
        let own = schema["properties"].as_object().into_iter().flatten();
        let mut fields: Vec<_> = own.map(|(name, schema)| (name.clone(), schema)).collect();
        let names = schema["required"].as_array().into_iter().flatten();
        let mut required: Vec<_> = names.filter_map(Value::as_str).collect();
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let (more, needed) = self.fields(part);
            fields.extend(more);
            required.extend(needed);
        }
        (fields, required)
    }
}

fn is_of_type(types: &Value, value: &Value) -> bool {
    let one = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    match types {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(one),
        _ => true,
    }
}

fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(elements) => elements.iter().for_each(|each| references(each, found)),
        _ => {}
    }
}

fn listeners(node: &RoomNode) -> [Client; 2] {
    [node.public.clone(), node.ops.clone()]
}

#[test]
fn a_field_too_many_too_few_or_of_another_type_is_seen() {
    let wait = json!({
        "type": "object", "required": ["min"],
        "properties": {"min": {"type": "integer"}, "max": {"type": ["integer", "null"]}},
    });
    let place = json!({
        "type": "object",
        "properties": {"wait": {"oneOf": [{"$ref": "#/components/schemas/Wait"}, {"type": "null"}]}},
    });
    let document = Document(json!({"components": {"schemas": {"Wait": wait, "Place": place}}}));
    let fits = |wait: Value| {
        let place = json!({"$ref": "#/components/schemas/Place"});
        document.fits(&place, &json!({ "wait": wait })).is_ok()
    };
    assert!(fits(Value::Null) && fits(json!({"min": 1})) && fits(json!({"min": 1, "max": null})));
    for wrong in [json!({"max": 1}), json!({"min": 1, "more": 1}), json!({"min": "1"}), json!(1)] {
        assert!(!fits(wrong.clone()), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documents_hold_together() {
    let node = single(&[]).await;
    for client in listeners(&node) {
        let document = Document::of(&client).await;
        assert!(document.0["openapi"].as_str().expect("a version").starts_with("3.1."));
        let mut used = BTreeSet::new();
        references(&document.0, &mut used);
        for target in &used {
            document.resolve(&json!({ "$ref": target }));
        }
        let names: BTreeSet<_> =
            document.calls().iter().map(|(_, _, call)| call["operationId"].to_string()).collect();
        assert_eq!(names.len(), document.calls().len(), "an operationId is there twice");
        let groups: Vec<_> =
            document.0["tags"].as_array().expect("tags").iter().map(|tag| &tag["name"]).collect();
        for (method, path, call) in document.calls() {
            let what = format!("{method} {path}");
            assert!(call["summary"].as_str().is_some_and(|text| !text.is_empty()), "{what}");
            assert!(groups.contains(&&call["tags"][0]), "{what} is in no group");
            let parameters = call["parameters"].as_array().cloned().unwrap_or_default();
            let named: BTreeSet<_> = parameters
                .iter()
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| format!("{{{}}}", parameter["name"].as_str().expect("a name")))
                .collect();
            let in_path: BTreeSet<_> =
                path.split('/').filter(|part| part.starts_with('{')).map(str::to_owned).collect();
            assert_eq!(named, in_path, "{what}");
            let needs = call["security"].as_array().cloned().unwrap_or_default();
            for name in needs.iter().filter_map(Value::as_object).flat_map(|need| need.keys()) {
                assert!(document.0["components"]["securitySchemes"][name].is_object(), "{what}");
            }
            for (status, response) in call["responses"].as_object().expect("answers") {
                assert!(response["headers"]["x-request-id"].is_object(), "{what} {status}");
                assert!(!response["description"].as_str().unwrap_or_default().is_empty());
                let problem = &response["content"]["application/problem+json"];
                for (code, example) in problem["examples"].as_object().into_iter().flatten() {
                    let fits = document.fits(&problem["schema"], &example["value"]);
                    assert_eq!(fits, Ok(()), "{what} {status} {code}");
                }
            }
        }
    }
}

/// The router tells the methods of a path to whoever uses one that it does not take.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_served_is_described_and_what_is_described_is_served() {
    let node = single(&[]).await;
    node.create("sale", &json!({"queueing_method": "random", "opens_at": FAR})).await.expect(201);
    let unheard_of = Method::from_bytes(b"PROPFIND").expect("a method");
    for client in listeners(&node) {
        let document = Document::of(&client).await;
        let mut described = BTreeSet::new();
        for (method, path, call) in document.calls() {
            described.insert(path.clone());
            let address = path.replace("{event}", "sale").replace("{control}", "pause");
            let wire: Method = method.parse().expect("a method");
            let answer = client.request(wire, &address).send().await.expect("an answer");
            let status = answer.status().as_u16();
            assert!(!matches!(status, 404 | 405), "{method} {path}: {status}");
            assert!(call["responses"][status.to_string()].is_object(), "{method} {path}: {status}");
        }
        for path in &described {
            let address = path.replace("{event}", "sale").replace("{control}", "pause");
            let answer = send(client.request(unheard_of.clone(), &address)).await;
            answer.expect_problem(405, "method_not_allowed");
            let allowed: BTreeSet<_> =
                answer.header("allow").split(',').filter(|method| *method != "HEAD").collect();
            let calls = document.calls();
            let methods: BTreeSet<_> = calls
                .iter()
                .filter(|(_, of, _)| of == path)
                .map(|(method, ..)| method.as_str())
                .collect();
            assert_eq!(allowed, methods, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitors_answers_are_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.public).await;
    let settings = json!({
        "queueing_method": "random", "opens_at": FAR, "draw_beacon": "the hash of block 900000",
    });
    node.create("sale", &settings).await.expect(201);
    let get = async |path: &str| {
        let answer = node.public.get(&path.replace("{event}", "sale")).await.expect(200);
        document.describes(&format!("GET {path}"), &answer);
    };
    let join = "POST /v1/events/{event}/queue";
    document.describes(join, &node.public.post("/v1/events/sale/queue").await.expect(201));
    let person = node.join("sale").await;
    document.describes(join, &person.rejoin().await.expect(200));
    document.describes("GET /v1/events/{event}/queue", &person.place().await.expect(200));
    let early = person.poll().await.expect(429);
    document.describes("GET /v1/events/{event}/queue", &early);
    let claim = "POST /v1/events/{event}/admission";
    document.describes(claim, &person.claim().await.expect(409));
    for path in ["/v1/events/{event}/draw", "/v1/events/{event}/status"] {
        get(path).await;
    }

    let opening = json!({"opens_at": "2020-01-01T00:00:00Z", "draw_beacon_value": "0000"});
    node.ops.patch("/v1/admin/events/sale", &opening).await.expect(200);
    person.called().await;
    document.describes("GET /v1/events/{event}/queue", &person.place().await.expect(200));
    document.describes(claim, &person.claim().await.expect(201));
    document.describes(claim, &person.claim().await.expect(200));
    for path in [
        "/v1/events/{event}/draw",
        "/v1/events/{event}/status",
        "/.well-known/jwks.json",
        "/events/{event}",
        "/healthz",
        "/readyz",
        "/docs",
        "/openapi.json",
    ] {
        get(path).await;
    }

    let beat = node.public.post("/v1/events/sale/queue/heartbeat").await.expect(401);
    document.describes("POST /v1/events/{event}/queue/heartbeat", &beat);
    let unknown = node.public.get("/v1/events/nothing/status").await.expect(404);
    document.describes("GET /v1/events/{event}/status", &unknown);
    let malformed = node.public.post("/v1/events/NO/queue").await.expect(400);
    document.describes(join, &malformed);
    document.describes("DELETE /v1/events/{event}/queue", &person.leave().await.expect(204));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_answers_are_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.ops).await;
    let room = "/v1/admin/events/{event}";
    document.describes(&format!("PUT {room}"), &node.create("sale", &json!({})).await.expect(201));
    let all = json!({
        "opens_at": "2020-01-01T00:00:00Z", "pre_queue_at": "2019-01-01T00:00:00Z",
        "max_queue_length": 7, "draw_beacon": "a", "draw_beacon_value": "b",
    });
    document.describes(&format!("PUT {room}"), &node.create("sale", &all).await.expect(200));
    let wrong = node.create("sale", &json!({"name": ""})).await.expect(400);
    document.describes(&format!("PUT {room}"), &wrong);
    for path in ["", "/audit", "/metrics"] {
        let answer = node.ops.get(&format!("/v1/admin/events/sale{path}")).await.expect(200);
        document.describes(&format!("GET {room}{path}"), &answer);
    }
    for path in ["/v1/admin/events", "/metrics", "/docs", "/openapi.json"] {
        document.describes(&format!("GET {path}"), &node.ops.get(path).await.expect(200));
    }
    let patched = node.ops.patch("/v1/admin/events/sale", &json!({"name": "New"})).await;
    document.describes(&format!("PATCH {room}"), &patched.expect(200));
    let rate = json!({"admission_rate_per_minute": 60});
    let rate = node.ops.patch("/v1/admin/events/sale/rate", &rate).await.expect(200);
    document.describes(&format!("PATCH {room}/rate"), &rate);
    let codes = json!({"codes": [{"code": "A", "uses": 2, "lane": "priority"}]});
    let request = node.ops.request(Method::POST, "/v1/admin/events/sale/access-codes");
    let codes = send(request.json(&codes)).await.expect(200);
    document.describes(&format!("POST {room}/access-codes"), &codes);
    let paused = node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    document.describes(&format!("POST {room}/{{control}}"), &paused);
    let anonymous = Client::new(node.ops.base().trim_start_matches("http://"));
    let refused = anonymous.get("/v1/admin/events").await.expect(401);
    document.describes("GET /v1/admin/events", &refused);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_loads_nothing_from_elsewhere_and_holds_nothing_secret() {
    let node = single(&[]).await;
    let anonymous = Client::new(node.ops.base().trim_start_matches("http://"));
    anonymous.get("/openapi.json").await.expect_problem(401, "invalid_token");
    for client in [node.public.clone(), anonymous] {
        let page = client.get("/docs").await.expect(200);
        let mut loaded = vec![page.clone()];
        for quoted in page.text.split('"').filter(|text| text.starts_with("/docs/")) {
            loaded.push(client.get(quoted).await.expect(200));
        }
        assert_eq!(loaded.len(), 3, "a style and a script");
        for answer in loaded {
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(!policy.contains("unsafe") && !policy.contains("data:"), "{policy}");
            for elsewhere in ["http:", "https:", "\"//", " url(", ":url(", "@import"] {
                assert!(!answer.text.contains(elsewhere), "{elsewhere} in {}", answer.text);
            }
        }
        for inline in ["<style", " style=", "<script>", " onclick="] {
            assert!(!page.text.contains(inline), "{inline} in {}", page.text);
        }
    }
}
