/**
 * What differs between two runs of a program, in words for the table. Responses that the guide describes once for all packages count as
 * equal: those of errors and of statuses without a body, and `application/json` without a charset.
 */
import { STATUS_CODES } from "node:http";

/** `"works"`, or the differences. Throws where the program fails on Koa, or gives a reason for a difference that there is not. */
export function result({ name, because, asOnKoa }, onKoa, here) {
  if (onKoa === undefined || here === undefined) throw new Error(`${name}: did not run`);
  if (onKoa.error !== undefined) throw new Error(`${name}: on Koa itself it ${onKoa.error}`);
  const differences = here.error === undefined ? inWords(alike(onKoa), alike(here)) : [here.error];
  if (differences.length > 0) return [differences.join("; "), because].filter(Boolean).join(". ");
  if (because !== undefined) throw new Error(`${name}: has a reason for a difference, and works`);
  return asOnKoa === undefined ? "works" : `as on Koa: ${asOnKoa}`;
}

function alike(seen) {
  return JSON.parse(JSON.stringify(seen).replaceAll("application/json; charset=utf-8", "application/json"));
}

function inWords(onKoa, here) {
  const labels = [...new Set([...Object.keys(onKoa), ...Object.keys(here)])];
  const found = labels
    .map((label) => [label, differenceOf(onKoa[label], here[label])])
    .filter(([, words]) => words !== "");
  const wordings = [...new Set(found.map(([, words]) => words))];
  return wordings.map((wording) => {
    const where = found.filter(([, words]) => words === wording).map(([label]) => `\`${label}\``);
    return `${where.join(", ")}: ${wording}`;
  });
}

function differenceOf(onKoa, here) {
  if (JSON.stringify(onKoa) === JSON.stringify(here)) return "";
  if (onKoa?.headers === undefined || here?.headers === undefined) return pair("", here, onKoa);
  if (isDescribedOnce(onKoa, here)) return "";
  if (here.status !== onKoa.status) return pair("status ", here.status, onKoa.status);
  const names = Object.keys({ ...onKoa.headers, ...here.headers }).filter((name) => !OF_THE_BODY.includes(name));
  const type = pair("type ", here.headers["content-type"], onKoa.headers["content-type"]);
  const words = [
    type || pair("body ", here.body, onKoa.body),
    ...names.map((name) => pair(`\`${name}\` `, here.headers[name], onKoa.headers[name])),
  ].filter((word) => word !== "");
  return words.join(", ") || pair("length ", here.headers["content-length"], onKoa.headers["content-length"]);
}

const OF_THE_BODY = ["content-type", "content-length", "transfer-encoding"];

function isDescribedOnce(onKoa, here) {
  if (onKoa.status !== here.status || !isText(onKoa) || !isProblemOrEmpty(here)) return false;
  const others = Object.entries(onKoa.headers).filter(([name]) => !OF_THE_BODY.includes(name));
  return others.every(([name, value]) => here.headers[name] === value);
}

/** Koa sends plain text for an error, and for a status without a body. */
function isText({ status, headers, body }) {
  return (headers["content-type"] ?? "").startsWith("text/plain") && (status >= 400 || body === STATUS_CODES[status]);
}

function isProblemOrEmpty({ headers, body }) {
  return body === "" || headers["content-type"] === "application/problem+json";
}

function pair(what, here, onKoa) {
  return here === onKoa ? "" : `${what}${shown(here)}, on Koa ${shown(onKoa)}`;
}

const LONGEST = 60;

function shown(value) {
  if (value === undefined) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return `\`${short.replaceAll(/\s+/g, " ").replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}
