/**
 * The texts of problems (RFC 9457) in a language. `problem-not-found` is the title of problems of that type, and its attribute `detail` the
 * detail, with `$detail`, the text that it replaces. `validation-too_small` is the message of a field with that code. What the catalogs lack stays.
 */
import type { FieldError, ValidationError } from "../errors/framework-error.js";
import type { Problem } from "../errors/problem.js";
import type { Language } from "./language.js";

/** Returns the same problem if the catalogs have none of its texts. */
export function translateProblem(language: Language, problem: Problem): Problem {
  const { title, detail, extensions } = problem;
  const id = `problem-${problem.slug ?? problem.status}`;
  const newTitle = language.find(id);
  const newDetail = language.find(`${id}.detail`, { detail: detail ?? "" });
  const newExtensions = translateExtensions(language, extensions);
  if (newTitle === undefined && newDetail === undefined && newExtensions === extensions) return problem;
  const texts = { title: newTitle ?? title, detail: newDetail ?? detail, extensions: newExtensions };
  return problem.withTexts(texts);
}

function translateExtensions(language: Language, extensions: Problem["extensions"]): Problem["extensions"] {
  const errors = extensions?.["errors"];
  if (!isFieldErrors(errors)) return extensions;
  const translated = translateFields(language, errors);
  return translated === errors ? extensions : { ...extensions, errors: translated };
}

/** An application may give the extension another shape. */
function isFieldErrors(errors: unknown): errors is ValidationError["errors"] {
  return typeof errors === "object" && errors !== null && Object.values(errors).every(isFaultList);
}

/** Returns the same object if the catalogs have none of the messages. */
export function translateFields(language: Language, errors: ValidationError["errors"]): ValidationError["errors"] {
  const translated = Object.create(null) as Record<string, readonly FieldError[]>;
  let isChanged = false;
  for (const [path, faults] of Object.entries(errors)) {
    translated[path] = faults.map((fault) => {
      const message = language.find(`validation-${fault.code}`, { message: fault.message ?? "" });
      isChanged ||= message !== undefined;
      return message === undefined ? fault : { ...fault, message };
    });
  }
  return isChanged ? translated : errors;
}

function isFaultList(faults: unknown): boolean {
  return Array.isArray(faults) && faults.every((fault) => typeof fault === "object" && fault !== null);
}
