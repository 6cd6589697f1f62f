/**
 * A multipart form by the contract of its endpoint, as a schema over the texts and files that the reader of uploads returns: the texts go
 * to the schema of the contract, and the files are checked by their rules. Faults of both are in one 422.
 */
import type { FileRule, FileRules } from "../endpoints/content.js";
import { runSchema } from "../http/body/run-schema.js";
import { UploadedFile, type UploadFields, type UploadLimits } from "../http/body/uploads.js";
import type { Schema, SchemaIssue, SchemaResult } from "../runtime/standard-schema.js";
import type { WireConverter } from "./wire-value.js";

interface FormFault extends SchemaIssue {
  readonly code: string;
}

/** The schema of a form with files. */
export function createFormSchema(texts: Schema, convert: WireConverter, rules: FileRules): Schema {
  return {
    "~standard": {
      version: 1,
      vendor: "stagecraft",
      validate: (value) => new FormCheck(rules, Object(value) as UploadFields).run(texts, convert),
    },
  };
}

/** The limits of the form. A file that is larger than every rule allows is not received to its end. */
export function toUploadLimits(rules: FileRules, limits: UploadLimits | undefined): UploadLimits | undefined {
  const sizes = Object.values(rules).map(({ bytes }) => bytes);
  if (sizes.length === 0 || sizes.includes(undefined)) return limits;
  return { fileBytes: Math.max(...sizes.filter((bytes) => bytes !== undefined)), ...limits };
}

class FormCheck {
  private readonly faults: SchemaIssue[] = [];
  private readonly files = Object.create(null) as Record<string, unknown>;
  private readonly texts = Object.create(null) as Record<string, unknown>;

  constructor(rules: FileRules, form: UploadFields) {
    for (const [name, value] of Object.entries(form)) if (!Object.hasOwn(rules, name)) this.addText(name, value);
    for (const [name, rule] of Object.entries(rules)) this.addFiles(name, rule, form[name]);
  }

  async run(schema: Schema, convert: WireConverter): Promise<SchemaResult<unknown>> {
    const converted = convert(this.texts, [], this.faults);
    // The schema may refuse again a text that could not be converted.
    const known = new Set(this.faults.map(({ path = [] }) => path.map(toKey).join(".")));
    const { issues, ...output } = { value: undefined, ...(await runSchema(schema, converted, "body")) };
    const others = (issues ?? []).filter(({ path = [] }) => !known.has(path.map(toKey).join(".")));
    if (issues !== undefined || this.faults.length > 0) return { issues: [...this.faults, ...others] };
    return { value: { ...Object(output.value), ...this.files } };
  }

  private addText(name: string, value: UploadFields[string]): void {
    const place = findFile(value, [name]);
    if (place === undefined) this.texts[name] = value;
    else this.fail(place, "unexpected_file", "No field of the form takes this file.");
  }

  private addFiles(name: string, rule: FileRule, value: UploadFields[string] | undefined): void {
    if (value === undefined) {
      if (rule.optional !== true) this.fail([name], "missing_file", "The form has no file of this name.");
      return;
    }
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (rule.several !== true && values.length > 1)
      return this.fail([name], "too_many_files", "The form has more than one file of this name.");
    for (const [at, each] of values.entries())
      this.checkFile(rule.several === true ? [name, String(at)] : [name], rule, each);
    // The compiler names the types of both by the rule.
    this.files[name] = rule.several === true ? values : values[0];
  }

  private checkFile(path: readonly string[], { types, bytes }: FileRule, file: unknown): void {
    if (!(file instanceof UploadedFile)) return this.fail(path, "missing_file", "The value is no file.");
    if (types !== undefined && !file.hasType(...types))
      this.fail(path, "file_type", `The file is none of the types ${types.join(", ")}.`);
    if (bytes !== undefined && file.size > bytes)
      this.fail(path, "file_size", `The file has more than ${bytes} bytes.`);
  }

  private fail(path: readonly string[], code: string, message: string): void {
    const fault: FormFault = { path, code, message };
    this.faults.push(fault);
  }
}

function toKey(part: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof part === "object" ? part.key : part);
}

/** The path of the first file in a value. */
function findFile(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (value instanceof UploadedFile) return path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findFile(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
