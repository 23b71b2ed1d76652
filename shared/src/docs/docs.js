// Shows /openapi.json: calls by group, each with what it takes and what it answers.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEPTH_MAX = 4;

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; a text is a child and never markup. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text in which `this` is code. */
function prose(text = "") {
  return text.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));
}

function paragraphs(text = "") {
  return text.split("\n\n").filter(Boolean).map((part) => el("p", {}, prose(part)));
}

let spec;

/** What a $ref points at, and anything else as it is; parts of an allOf are put together. */
function resolve(part) {
  if (part?.$ref) {
    const target = part.$ref.slice(2).split("/").reduce((at, key) => at[key], spec);
    const { $ref, ...beside } = part;
    return resolve({ ...target, ...beside });
  }
  if (!part?.allOf) return part ?? {};
  const { allOf, ...whole } = part;
  for (const each of allOf.map(resolve)) {
    whole.type ??= each.type;
    whole.properties = mergeProperties(whole.properties, each.properties);
    whole.required = [...(whole.required ?? []), ...(each.required ?? [])];
  }
  return whole;
}

function mergeProperties(one = {}, other = {}) {
  const all = { ...one };
  for (const [name, property] of Object.entries(other)) all[name] = { ...all[name], ...property };
  return all;
}

/** A schema that may be null, without the null. */
function unwrap(schema) {
  const part = resolve(schema);
  const choices = part.oneOf ?? part.anyOf;
  const other = choices?.filter((choice) => choice.type !== "null");
  if (other?.length !== 1 || other.length === choices.length) return [part, false];
  const { oneOf, anyOf, ...beside } = part;
  return [{ ...resolve(other[0]), ...beside }, true];
}

function typeOf(schema) {
  const [part, nullable] = unwrap(schema);
  const types = [part.type ?? "any"].flat();
  let name = types.filter((type) => type !== "null").join(" or ");
  if (name === "array") name = `list of ${typeOf(part.items)}`;
  if (["date-time", "uuid", "uri"].includes(part.format)) name = part.format;
  return nullable || types.includes("null") ? `${name} or null` : name;
}

const figure = (number) => number.toLocaleString("en");

function limits(part) {
  const said = [];
  if (part.minimum && part.maximum) said.push(`${figure(part.minimum)} to ${figure(part.maximum)}`);
  if (part.maxLength) said.push(`${part.minLength ?? 0} to ${part.maxLength} characters`);
  if (part.pattern) said.push(part.pattern);
  if (part.default !== undefined && part.default !== null) said.push(`default ${JSON.stringify(part.default)}`);
  return said.join(" · ");
}

/**
 * An example of a schema: its own, or one made of those of its parts. `sent` leaves out what a request need
 * not have and nobody has given an example of.
 */
function exampleOf(schema, sent = false, depth = 0) {
  const [part] = unwrap(schema);
  if (part.example !== undefined) return part.example;
  if (part.examples?.length) return part.examples[0];
  if (part.enum) return part.enum[0];
  if (part.oneOf) return exampleOf(part.oneOf[0], sent, depth + 1);
  const type = [part.type].flat()[0];
  if (depth > DEPTH_MAX) return null;
  if (part.properties) {
    const members = Object.entries(part.properties).filter(([name, each]) => {
      return !sent || part.required?.includes(name) || unwrap(each)[0].example !== undefined;
    });
    return Object.fromEntries(members.map(([name, each]) => [name, exampleOf(each, sent, depth + 1)]));
  }
  if (type === "array") return [exampleOf(part.items, sent, depth + 1)];
  if (part.format === "date-time") return "2027-06-01T10:00:00Z";
  if (part.format === "uuid") return "0190a5c2-7a3e-7c3b-9d2f-3f1b6c9e4d21";
  return { string: "…", integer: part.minimum ?? 0, number: 0, boolean: false }[type] ?? {};
}

/** The fields of an object; a schema that is none is named by its type. */
function fields(schema, depth = 0) {
  const [part] = unwrap(schema);
  const inner = part.type === "array" ? unwrap(part.items)[0] : part;
  if (!inner.properties || depth > DEPTH_MAX) return null;
  const rows = Object.entries(inner.properties).map(([name, property]) => {
    return field(name, property, inner.required?.includes(name), depth);
  });
  return el("dl", { class: "fields" }, rows);
}

function field(name, schema, required, depth = 0) {
  const [part] = unwrap(schema);
  const values = part.enum ?? part.oneOf?.flatMap((choice) => choice.enum ?? []);
  const facts = [typeOf(schema), required ? null : "optional", limits(part)].filter(Boolean).join(" · ");
  return el("div", {},
    el("dt", {}, el("code", {}, name), " ", el("span", { class: "soft" }, facts)),
    el("dd", {},
      paragraphs(part.description),
      values?.length ? el("p", {}, values.flatMap((value) => [el("code", {}, String(value)), " "])) : null,
      fields(schema, depth + 1)));
}

function code(text) {
  return el("pre", { tabindex: "0" }, el("code", {}, text));
}

function json(value) {
  return code(JSON.stringify(value, null, 2));
}

/** One media type of a body: its fields, and examples to open. */
function body(media, content, sent) {
  const schema = content.schema ?? {};
  const own = Object.entries(content.examples ?? {}).map(([name, example]) => [name, example.value]);
  const isJson = media.includes("json") || media.includes("event-stream");
  const examples = own.length || !isJson ? own : [["example", exampleOf(schema, sent)]];
  const list = media.includes("problem") ? null : fields(schema);
  return el("div", {},
    el("p", { class: "soft media" }, media),
    list && el("details", sent ? { open: "" } : {}, el("summary", {}, "fields"), list),
    examples.map(([name, value]) => el("details", {}, el("summary", {}, name), json(value))));
}

function parameters(call) {
  const all = (call.parameters ?? []).map(resolve);
  if (!all.length) return null;
  const rows = all.map((parameter) => {
    const about = [parameter.description, resolve(parameter.schema).description].filter(Boolean)[0];
    const schema = { ...resolve(parameter.schema), description: about };
    return field(`${parameter.name} (${parameter.in})`, schema, parameter.required);
  });
  return [el("h4", {}, "Parameters"), el("dl", { class: "fields" }, rows)];
}

function credentials(call) {
  const needs = call.security ?? spec.security ?? [];
  const names = needs.flatMap((need) => Object.keys(need));
  if (!names.length) return null;
  const optional = needs.some((need) => Object.keys(need).length === 0);
  const rows = names.map((name) => {
    const scheme = spec.components.securitySchemes[name];
    const sent = scheme.type === "http" ? "Authorization: Bearer" : `cookie ${scheme.name}`;
    return el("div", {}, el("dt", {}, el("code", {}, sent)), el("dd", {}, paragraphs(scheme.description)));
  });
  const title = `Credential${optional ? ", if there is one" : names.length > 1 ? ", either of" : ""}`;
  return [el("h4", {}, title), el("dl", { class: "fields" }, rows)];
}

function answers(call) {
  return Object.entries(call.responses).sort().map(([status, ref]) => {
    const response = resolve(ref);
    const special = Object.entries(response.headers ?? {}).filter(([name]) => name !== "x-request-id");
    const rows = special.map(([name, header]) => {
      return el("div", {}, el("dt", {}, el("code", {}, name)), el("dd", {}, paragraphs(resolve(header).description)));
    });
    const bodies = Object.entries(response.content ?? {}).map(([media, content]) => {
      return body(media, content, false);
    });
    return el("section", { class: "answer" },
      el("p", {}, el("strong", { class: `status s${status[0]}` }, status), " ", prose(response.description)),
      rows.length ? el("dl", { class: "fields" }, rows) : null,
      bodies);
  });
}

/** A line for a shell that makes the call. */
function curl(method, path, call) {
  const filled = (call.parameters ?? []).map(resolve)
    .filter((parameter) => parameter.in === "path")
    .reduce((text, { name, schema }) => text.replace(`{${name}}`, exampleOf(schema)), path);
  const parts = ["curl -i"];
  if (method !== "get") parts.push(`-X ${method.toUpperCase()}`);
  const needs = call.security ?? spec.security ?? [];
  const optional = needs.some((need) => Object.keys(need).length === 0);
  const names = optional ? [] : needs.flatMap((need) => Object.keys(need));
  const bearer = names.find((name) => spec.components.securitySchemes[name].type === "http");
  if (bearer) parts.push(`-H "Authorization: Bearer $${bearer.toUpperCase()}"`);
  const request = resolve(call.requestBody);
  const [media, content] = request.required ? Object.entries(request.content)[0] : [];
  if (media) {
    const text = JSON.stringify(exampleOf(content.schema, true)).replaceAll("'", "'\\''");
    parts.push(`-H 'Content-Type: ${media}'`, `-d '${text}'`);
  }
  parts.push(`'${location.origin}${filled}'`);
  return parts.join(" ");
}

function copyable(text) {
  const shown = code(text);
  const button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(shown); // Without TLS there is no clipboard to write to.
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return el("div", { class: "curl" }, shown, button);
}

function requestBody(call) {
  if (!call.requestBody) return null;
  const request = resolve(call.requestBody);
  const title = `Body${request.required ? "" : ", may be left out"}`;
  const bodies = Object.entries(request.content).map(([media, content]) => {
    return body(media, content, true);
  });
  return [el("h4", {}, title), bodies];
}

function shownCall({ method, path, call }) {
  return el("details", { class: "call", id: call.operationId },
    el("summary", {},
      el("span", { class: `method ${method}` }, method.toUpperCase()), " ",
      // A path may break after each of its parts.
      el("code", { class: "path" }, path.split("/").slice(1).flatMap((part) => ["/", el("wbr"), part])),
      el("span", { class: "what" }, call.summary ?? "")),
    el("div", { class: "inside" },
      paragraphs(call.description),
      copyable(curl(method, path, call)),
      credentials(call), parameters(call), requestBody(call),
      el("h4", {}, "Answers"), answers(call)));
}

function calls() {
  const all = Object.entries(spec.paths).flatMap(([path, item]) => {
    return METHODS.filter((method) => item[method]).map((method) => ({ method, path, call: item[method] }));
  });
  return all.sort((one, other) => one.call["x-order"] - other.call["x-order"]);
}

function schemas() {
  const all = Object.entries(spec.components.schemas).map(([name, schema]) => {
    const [part] = unwrap(schema);
    const values = part.enum?.flatMap((value) => [el("code", {}, String(value)), " "]);
    return el("details", { class: "call" },
      el("summary", {}, el("code", { class: "path" }, name)),
      el("div", { class: "inside" },
        paragraphs(part.description), values ? el("p", {}, values) : fields(schema) ?? typeOf(schema),
        part.properties && el("details", {}, el("summary", {}, "example"), json(exampleOf(schema)))));
  });
  return el("section", {}, el("h2", { id: "schemas" }, "Schemas"), all);
}

function show() {
  document.title = spec.info.title;
  byId("title").textContent = spec.info.title;
  byId("state").hidden = true;
  byId("token").hidden = true;
  byId("about").replaceChildren(...paragraphs(spec.info.description));
  const groups = spec.tags.map((tag) => {
    const inside = calls().filter(({ call }) => call.tags.includes(tag.name));
    return el("section", {},
      el("h2", { id: tag.name }, tag.name), paragraphs(tag.description), inside.map(shownCall));
  });
  byId("calls").replaceChildren(...groups, schemas());
  const names = [...spec.tags.map((tag) => tag.name), "Schemas"];
  byId("contents").replaceChildren(...names.map((name) => {
    return el("a", { href: `#${name === "Schemas" ? "schemas" : name}` }, name);
  }));
  openNamed();
}

/** Opens the call that the address names. */
function openNamed() {
  const named = byId(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) named.open = true;
  named?.scrollIntoView();
}

async function load(token) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  try {
    const answer = await fetch("/openapi.json", { headers });
    if (answer.status === 401) {
      byId("state").textContent = token ? "That is not the token." : "";
      byId("token").hidden = false;
      return;
    }
    if (!answer.ok) throw new Error(`${answer.status}`);
    spec = await answer.json();
  } catch (error) {
    byId("state").textContent = `The document did not come (${error.message}). Reload to try again.`;
    return;
  }
  show();
}

byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  load(byId("token-text").value);
});
addEventListener("hashchange", openNamed);
load();
