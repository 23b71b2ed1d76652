//! `/openapi.json` of a listener, to hold against what it serves.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Client, send};

/// The document.
pub struct Document(Value);

impl Document {
    /// Of the listener that this client talks to.
    ///
    /// # Panics
    /// When it has none.
    pub async fn of(client: &Client) -> Self {
        let answer = client.get("/openapi.json").await.expect(200);
        assert_eq!(answer.header("content-type"), "application/json");
        Self(answer.json())
    }

    /// Whatever is there.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0
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

    /// Asserts what must be true of every document: references lead somewhere, names are there once,
    /// parameters are those of the path, every answer says what it is and every example fits.
    ///
    /// # Panics
    /// With what does not hold.
    pub fn assert_holds_together(&self) {
        assert!(self.0["openapi"].as_str().expect("a version").starts_with("3.1."));
        let mut used = BTreeSet::new();
        references(&self.0, &mut used);
        for target in &used {
            self.resolve(&json!({ "$ref": target }));
        }
        let names: BTreeSet<_> =
            self.calls().iter().map(|(_, _, call)| call["operationId"].to_string()).collect();
        assert_eq!(names.len(), self.calls().len(), "an operationId is there twice");
        for (method, path, call) in self.calls() {
            let what = format!("{method} {path}");
            self.assert_call_holds(&what, &path, call);
            for (status, response) in call["responses"].as_object().expect("answers") {
                self.assert_answer_holds(&format!("{what} {status}"), response);
            }
        }
    }

    fn assert_call_holds(&self, what: &str, path: &str, call: &Value) {
        assert!(call["summary"].as_str().is_some_and(|text| !text.is_empty()), "{what}");
        let mut groups = self.0["tags"].as_array().expect("tags").iter().map(|tag| &tag["name"]);
        assert!(groups.any(|group| *group == call["tags"][0]), "{what} is in no group");
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
            assert!(self.0["components"]["securitySchemes"][name].is_object(), "{what}");
        }
    }

    fn assert_answer_holds(&self, what: &str, response: &Value) {
        assert!(response["headers"]["x-request-id"].is_object(), "{what}");
        assert!(!response["description"].as_str().unwrap_or_default().is_empty(), "{what}");
        let problem = &response["content"]["application/problem+json"];
        for (code, example) in problem["examples"].as_object().into_iter().flatten() {
            let fits = self.fits(&problem["schema"], &example["value"]);
            assert_eq!(fits, Ok(()), "{what} {code}");
        }
    }

    /// Asserts that what is described is served, with the methods that are described and no others.
    /// `address` puts something into a path's variables. The router tells the methods of a path to
    /// whoever uses one that it does not take.
    ///
    /// # Panics
    /// With what is not so.
    pub async fn assert_is_served(&self, client: &Client, address: impl Fn(&str) -> String) {
        let unheard_of = Method::from_bytes(b"PROPFIND").expect("a method");
        for (method, path, call) in self.calls() {
            let wire: Method = method.parse().expect("a method");
            let answer = client.request(wire, &address(&path)).send().await.expect("an answer");
            let status = answer.status().as_u16();
            assert!(!matches!(status, 404 | 405), "{method} {path}: {status}");
            assert!(call["responses"][status.to_string()].is_object(), "{method} {path}: {status}");
        }
        let paths: BTreeSet<_> = self.calls().into_iter().map(|(_, path, _)| path).collect();
        for path in paths {
            let answer = send(client.request(unheard_of.clone(), &address(&path))).await;
            answer.expect_problem(405, "method_not_allowed");
            let allowed: BTreeSet<_> = answer
                .header("allow")
                .split(',')
                .filter(|method| *method != "HEAD")
                .map(str::to_owned)
                .collect();
            let methods: BTreeSet<_> = self
                .calls()
                .into_iter()
                .filter(|(_, of, _)| *of == path)
                .map(|(method, ..)| method)
                .collect();
            assert_eq!(allowed, methods, "{path}");
        }
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
    ///
    /// # Panics
    /// With what differs.
    #[track_caller]
    pub fn describes(&self, call: &str, answer: &Answer) {
        let (method, path) = call.split_once(' ').expect("method and path");
        let call = &self.0["paths"][path][method.to_lowercase()];
        let response = &call["responses"][answer.status.to_string()];
        assert!(response.is_object(), "{method} {path} does not say {}: {answer:?}", answer.status);
        for name in response["headers"].as_object().expect("headers").keys() {
            let always = match name.as_str() {
                "x-request-id" | "ETag" | "Cache-Control" | "Location" => true,
                "Retry-After" => matches!(answer.status, 202 | 429),
                _ => false,
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_too_many_too_few_or_of_another_type_is_seen() {
        let wait = json!({
            "type": "object", "required": ["min"],
            "properties": {"min": {"type": "integer"}, "max": {"type": ["integer", "null"]}},
        });
        let or_null = json!({"oneOf": [{"$ref": "#/components/schemas/Wait"}, {"type": "null"}]});
        let place = json!({"type": "object", "properties": {"wait": or_null}});
        let document = Document(json!({"components": {"schemas": {"Wait": wait, "Place": place}}}));
        let fits = |wait: Value| {
            let place = json!({"$ref": "#/components/schemas/Place"});
            document.fits(&place, &json!({ "wait": wait })).is_ok()
        };
        assert!(fits(Value::Null) && fits(json!({"min": 1})));
        assert!(fits(json!({"min": 1, "max": null})));
        for wrong in
            [json!({"max": 1}), json!({"min": 1, "more": 1}), json!({"min": "1"}), json!(1)]
        {
            assert!(!fits(wrong.clone()), "{wrong}");
        }
    }
}
