/**
 * The options of a command of the application: from the members of its schema to the help, and from the words of the command line to the
 * values that the schema checks. A member `dryRun` is the option `--dry-run`. Texts become numbers and lists as those of a URL do.
 */
import type { ApplicationCommand } from "../../commands/command.js";
import { type JsonSchema, NoJsonSchema, readKnownParts, resolve } from "../../contracts/json-schema.js";
import { addInputErrors } from "../../contracts/request-input.js";
import { takesEveryType, TextFormReader } from "../../contracts/text-forms.js";
import { compileWireValue, keepTexts, listConstantTexts } from "../../contracts/wire-value.js";
import { runSchema } from "../../http/body/run-schema.js";
import { createFieldErrors, type FieldErrors } from "../../http/body/validate.js";
import type { SchemaIssue } from "../../runtime/standard-schema.js";
import { CommandError, toOption, UsageError, type DescribedCommand, type Parameter } from "../command.js";
import { canBeOption } from "./command-list.js";
import { escapeControls } from "../text-table.js";

/** In characters. */
const MAX_SUMMARY = 200;

/** An option as the user has written it: `true` without a value. */
type OptionTexts = Record<string, string | boolean | readonly string[]>;

export class CommandOptions {
  /** For the help and the completion, as data. */
  readonly described: DescribedCommand;
  private readonly name: string;
  private readonly parameters: Readonly<Record<string, Parameter<unknown>>>;
  private readonly jsonSchema: JsonSchema | NoJsonSchema | undefined;
  /** Whether the schema may take members that it does not name. It then refuses others itself. */
  private readonly isOpen: boolean;
  private readonly required: readonly string[];

  constructor(private readonly command: ApplicationCommand) {
    const { name, schema, place } = command;
    this.jsonSchema = schema && readKnownParts(schema, "input");
    const known = this.jsonSchema instanceof NoJsonSchema ? undefined : (this.jsonSchema ?? {});
    const { description, properties = {}, required = [] } = known === undefined ? {} : resolve(known, known);
    this.name = name;
    const forms = new TextFormReader(known ?? {});
    this.parameters = Object.fromEntries(
      Object.entries(properties).map(([member, each]) => [member, toParameter(each, known ?? {}, forms)]),
    );
    const members = Object.keys(this.parameters);
    const options = Object.entries(this.parameters).filter(([member]) => canBeOption(member, members));
    this.described = { name, summary: toSummary(description ?? place), parameters: Object.fromEntries(options) };
    this.isOpen = schema !== undefined && (known === undefined || takesOthers(resolve(known, known)));
    this.required = required;
  }

  /**
   * @param words of the command line after the name
   * @throws UsageError for an unknown option, a missing value, and for values that the schema refuses; CommandError where a member cannot
   *   be an option
   */
  async read(words: readonly string[]): Promise<unknown> {
    this.checkMembers();
    const texts = this.readTexts(words);
    const { command, jsonSchema } = this;
    if (command.schema === undefined) return {};
    for (const name of this.required) if (this.parameters[name]?.kind === "flag") texts[name] ??= false;
    const convert =
      jsonSchema === undefined || jsonSchema instanceof NoJsonSchema ? keepTexts : compileWireValue(jsonSchema);
    const faults: SchemaIssue[] = [];
    const converted = convert(texts, [], faults);
    const result = await runSchema(command.schema, converted, `the command ${command.name}`);
    if (result.issues === undefined && faults.length === 0) return result.value;
    throw this.refuse(formatFaults(addInputErrors(createFieldErrors(), converted, faults, result.issues)));
  }

  private readTexts(words: readonly string[]): OptionTexts {
    const texts = Object.create(null) as OptionTexts;
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? "";
      const [option, inline] = splitOption(word);
      if (!/^--./.test(option)) throw this.refuse(`${escapeControls(word)} is no option`);
      const { name, isNegated } = this.findMember(option);
      const { kind } = this.parameters[name] ?? {};
      const following = words[at + 1];
      const takesNext = inline === undefined && !isNegated && kind !== "flag" && isValue(following);
      if (takesNext) at += 1;
      const value = inline ?? (takesNext ? following : undefined);
      if (value === undefined && (kind === "text" || kind === "texts")) throw this.refuse(`${option} needs a value`);
      const earlier = texts[name];
      texts[name] = earlier === undefined ? (value ?? !isNegated) : [earlier, value ?? "true"].flat().map(String);
    }
    return texts;
  }

  private findMember(option: string): { readonly name: string; readonly isNegated: boolean } {
    const names = Object.keys(this.parameters);
    const name = names.find((each) => toOption(each) === option);
    if (name !== undefined) return { name, isNegated: false };
    const flag = names.find(
      (each) => this.parameters[each]?.kind === "flag" && option === `--no-${toOption(each).slice(2)}`,
    );
    if (flag !== undefined) return { name: flag, isNegated: true };
    if (this.isOpen) return { name: toMember(option), isNegated: false };
    throw this.refuse(`unknown option ${escapeControls(option)}`);
  }

  private checkMembers(): void {
    const members = Object.keys(this.parameters);
    const member = members.find((each) => !canBeOption(each, members));
    if (member === undefined) return;
    throw new CommandError(`the member ${JSON.stringify(member)} of the schema of ${this.name} cannot be an option`, {
      where: this.command.place,
      fix: `rename it: ${toOption(member)} is another option already, or is none that a person can write`,
    });
  }

  private refuse(what: string): UsageError {
    return new UsageError(`${this.name}: ${what}`, { fix: `stagecraft ${this.name} --help shows its options` });
  }
}

function takesOthers({ type, properties, additionalProperties = false, ...rest }: JsonSchema): boolean {
  const isWhole = ["anyOf", "oneOf", "allOf", "patternProperties", "$ref"].every((keyword) => !(keyword in rest));
  return type !== "object" || properties === undefined || additionalProperties !== false || !isWhole;
}

function toParameter(member: JsonSchema, root: JsonSchema, reader: TextFormReader): Parameter<unknown> {
  const forms = reader.read(member);
  const { description = "", items } = resolve(member, root);
  const isList = forms.has("array") && !takesEveryType(forms);
  const ofOne = isList && typeof items === "object" ? reader.read(items) : forms;
  const summary = toSummary(description);
  if ([...forms.keys()].every((type) => type === "boolean" || type === "null"))
    return { kind: "flag", placeholder: "", summary };
  const values = [...(listConstantTexts(ofOne) ?? [])].filter((value) => /^[\w.-]+$/.test(value));
  const isNumber = !ofOne.has("string") && (ofOne.has("number") || ofOne.has("integer"));
  return {
    kind: isList ? "texts" : "text",
    placeholder: values.length > 0 ? values.join("|") : isNumber ? "NUMBER" : "TEXT",
    summary,
  };
}

function toSummary(text: string): string {
  const [line = ""] = text.split("\n");
  return escapeControls(line.trim().slice(0, MAX_SUMMARY));
}

function splitOption(word: string): readonly [option: string, value?: string] {
  const at = word.indexOf("=");
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/** A text that starts with two dashes is an option: as a value it stands behind `=`. */
function isValue(word: string | undefined): word is string {
  return word !== undefined && !word.startsWith("--");
}

/** `--dry-run` is `dryRun`. */
function toMember(option: string): string {
  return option.slice(2).replaceAll(/-([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
}

function formatFaults(errors: FieldErrors): string {
  const lines = Object.entries(errors).flatMap(([path, faults]) => {
    const [member = ""] = path.split(".");
    const option = member === "" ? "" : `${escapeControls(toOption(member))}: `;
    return faults.map(({ code, message }) => `\n  ${option}${message ?? code}`);
  });
  return `the schema refuses its options${lines.join("")}`;
}
