/**
 * Refuses files that the schema of a form does not read, because they would be lost without an error: for example, the client sends `file`
 * and the schema says `files`. Such a file is a 422. A schema reads a file by reading its field, or by returning the object that has the
 * field.
 */
import { ValidationError } from "../errors/framework-error.js";
import { validate } from "../http/body/validate.js";
import type { Schema } from "../runtime/standard-schema.js";
import { UploadedFile, type UploadFields } from "../http/body/uploads.js";

type UploadMember = UploadFields[string];

/** A field of the form, or of an object in it, that holds files. */
interface FilePlace {
  readonly container: UploadFields;
  readonly name: string;
  readonly path: string;
  readonly files: UploadMember;
}

/** The schema's output. @throws ValidationError for a value that the schema refuses, and for files that it does not read */
export async function validateForm(schema: Schema, form: UploadFields): Promise<unknown> {
  const places = [...findPlaces(form, "")];
  const unread = new Set(places);
  for (const place of places) define(place, { get: () => (unread.delete(place), place.files) });
  try {
    const output = await validate(schema, form);
    for (const place of unread) if (isReachable(place.container, output)) unread.delete(place);
    if (unread.size > 0) throw untaken(unread);
    return output;
  } finally {
    for (const place of places) define(place, { value: place.files, writable: true });
  }
}

function* findPlaces(container: UploadFields, prefix: string): Generator<FilePlace> {
  for (const [name, member] of Object.entries(container)) {
    const path = prefix + name;
    if (hasFile(member)) yield { container, name, path, files: member };
    yield* findPlacesBelow(member, path);
  }
}

function* findPlacesBelow(member: UploadMember, path: string): Generator<FilePlace> {
  if (typeof member === "string" || member instanceof UploadedFile) return;
  if (!Array.isArray(member)) {
    // The compiler does not tell a readonly list from an object.
    yield* findPlaces(member as UploadFields, `${path}.`);
    return;
  }
  for (const [at, element] of member.entries()) yield* findPlacesBelow(element as UploadMember, `${path}.${at}`);
}

/** A file, or a list with one. */
function hasFile(member: UploadMember): boolean {
  return member instanceof UploadedFile || (Array.isArray(member) && (member as readonly UploadMember[]).some(hasFile));
}

function define({ container, name }: FilePlace, member: PropertyDescriptor): void {
  Object.defineProperty(container, name, { ...member, configurable: true, enumerable: true });
}

function isReachable(container: object, output: unknown): boolean {
  const seen = new Set([output]);
  for (const value of seen) {
    if (value === container) return true;
    if (typeof value !== "object" || value === null || value instanceof UploadedFile) continue;
    for (const member of Object.values(value)) seen.add(member);
  }
  return false;
}

function untaken(places: ReadonlySet<FilePlace>): ValidationError {
  const error = { code: "unexpected_file", message: "No field of the form takes this file." };
  return new ValidationError(Object.fromEntries([...places].map(({ path }) => [path, [error]])));
}
