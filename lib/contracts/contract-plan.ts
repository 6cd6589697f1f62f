/**
 * The contract of one route, compiled when the application is built: its faults, the reader of its request, the check of its responses,
 * and its guards.
 */
import { formatRoute, type AnyEndpoint } from "../endpoints/endpoint.js";
import { Content } from "../endpoints/content.js";
import type { Contract, ContentDeclaration } from "../endpoints/contract.js";
import type { Handler } from "../endpoints/handler.js";
import { isSafeMethod } from "../endpoints/method.js";
import { Path } from "../endpoints/path.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { profile } from "../runtime/profile.js";
import { isSchema, type Schema } from "../runtime/standard-schema.js";
import { findBodyFault, findResponseFault, hasNoContent, listContents } from "./content-faults.js";
import { compileDeclaredMembers } from "./declared-members.js";
import type { ReadyGuard } from "./guarded-run.js";
import type { GuardProviders } from "./guards.js";
import { describeMissingProvider, type IdempotencyProvider } from "./idempotency-provider.js";
import { findFormChange, isObjectOrList, NoJsonSchema, readJsonSchema, readKnownParts } from "./json-schema.js";
import { toOptionalReader } from "./left-out.js";
import { type BodyContent, createBodyContent } from "./request-body.js";
import { createInputReader, type InputParts, type InputReader, type TextSchema } from "./request-input.js";
import { createResponseCheck, type ResponseCheck, type ResponsePlan } from "./response-check.js";
import { isContent } from "./response-content.js";
import { watchThrown } from "./thrown-statuses.js";
import { compileWireValue, keepTexts, type WireConverter } from "./wire-value.js";

/** A route with a contract, with all prefixes. */
export interface ContractRoute extends Pick<AnyEndpoint, "method" | "path"> {
  readonly contract: Contract;
}

/** The parts of a contract that run for a request. */
export interface ReadyContract {
  readonly guards: readonly ReadyGuard[];
  readonly readInput: InputReader | undefined;
  /** The media types of the contents that its body may have. */
  readonly bodyTypes: readonly string[];
  readonly checkResponse: ResponseCheck | undefined;
  /** Names, in a debug build, the thrown errors that are not as the contract declares. */
  readonly watchThrown: ((handler: Handler) => Handler) | undefined;
  /** Puts the store of idempotency keys around a handler. */
  readonly runOnce: ((handler: Handler) => Handler) | undefined;
}

export interface ContractSettings {
  /** Whether a release build leaves out undeclared members of responses. An endpoint may say otherwise. */
  readonly stripResponses: boolean;
  /** Whether the application has an error mapper. */
  readonly mapsErrors: boolean;
}

/** The instances that contracts need. */
export interface ContractProviders {
  readonly guards: GuardProviders;
  readonly idempotency: IdempotencyProvider | undefined;
}

const USE_FILES = "store the files by one endpoint, and name them in the JSON of the endpoint with the key";
const USE_JSON = "respond with JSON, text or bytes, which may name the URL of another endpoint";

const STATE_JSON_SCHEMA =
  "write toStandardJsonSchema(schema) of the package @valibot/to-json-schema for valibot, or state it: withJsonSchema(schema, { type: … })";

export class ContractPlan {
  readonly diagnostics: Diagnostic[] = [];
  readonly warnings: Warning[] = [];
  /** The responses without a JSON Schema, and the reasons. */
  private readonly unknown: (readonly [part: string, reason: string])[] = [];
  private readonly title: string;
  private readonly contract: Contract;
  private readonly parts: InputParts;
  private readonly responses: readonly ResponsePlan[];

  constructor(private readonly route: ContractRoute) {
    this.title = formatRoute(route);
    this.contract = route.contract;
    this.parts = {
      params: this.compileParams(),
      query: this.compileText(this.contract.query, "query"),
      headers: this.compileHeaders(),
      body: this.compileBody(),
    };
    this.responses = this.compileResponses();
    if (this.contract.idempotent !== undefined) this.checkIdempotent();
  }

  get guards(): Contract["guards"] {
    return this.contract.guards;
  }

  /** The diagnostics of guards without a provider, and of keys without a store. */
  checkProviders({ guards, idempotency }: ContractProviders): readonly Diagnostic[] {
    const missing = this.contract.guards.filter(({ definition }) => guards.find(definition) === undefined);
    const needsStore = this.contract.idempotent !== undefined && idempotency === undefined;
    return [
      ...missing.map(({ definition }) => ({
        code: "E_GUARD_MISSING",
        ...guards.explainMissing(definition),
        where: this.title,
      })),
      ...this.checkGuardOrder(),
      ...(needsStore ? [describeMissingProvider(this.title)] : []),
    ];
  }

  /** The diagnostic of a form with files in an application that has no reader for one. */
  checkUploads(): readonly Diagnostic[] {
    if (this.parts.body.every(({ files }) => files === undefined)) return [];
    return [
      {
        code: "E_UPLOADS_MISSING",
        what: `the body of ${this.title} is a form with files, and the application provides no Uploads to read it`,
        where: this.title,
        fix: "add provide(Uploads).useFactory(() => new Uploads()) of @stagecraft/framework/uploads to the providers of a module",
      },
    ];
  }

  /** The diagnostics of responses that are to lose undeclared members, and have no JSON Schema to name the declared ones. */
  checkStripped({ stripResponses }: ContractSettings): readonly Diagnostic[] {
    if (!(this.contract.stripResponses ?? stripResponses)) return [];
    return this.unknown.map(([part, reason]) => ({
      code: "E_CONTRACT",
      what: `${part} of ${this.title}: stripResponses cannot leave out undeclared members, because the schema has no JSON Schema: ${reason}`,
      where: this.title,
      fix: `${STATE_JSON_SCHEMA}; or stripResponses: false for the endpoint`,
    }));
  }

  private checkGuardOrder(): readonly Diagnostic[] {
    const used = this.contract.guards.map(({ definition }) => definition);
    return used.flatMap((definition, at) => {
      const missing = definition.after.filter((earlier) => !used.slice(0, at).some((each) => earlier.includes(each)));
      return missing.map((earlier) => {
        const names = earlier.map(({ name }) => name).join(" or ");
        return {
          code: "E_GUARD_ORDER",
          what: `the guard ${definition.name} reads the values of the guard ${names}, which does not run before it`,
          where: this.title,
          fix: `write guards: [${earlier[0]?.name}, ${definition.name}], or give the table the guard ${names}`,
        };
      });
    });
  }

  /** Only after `checkProviders` has found no fault. */
  ready({ guards, idempotency }: ContractProviders, { stripResponses, mapsErrors }: ContractSettings): ReadyContract {
    const { idempotent } = this.contract;
    const strips = this.contract.stripResponses ?? stripResponses;
    const mode = profile === "debug" ? "check" : strips ? "strip" : "send";
    return {
      guards: this.contract.guards.map((used) => {
        const provider = guards.find(used.definition);
        if (provider === undefined) throw new Error(`the guard ${used.definition.name} has no provider`);
        return { ...used, provider };
      }),
      readInput: createInputReader(this.parts),
      bodyTypes: this.parts.body.map(({ type }) => type),
      checkResponse: this.responses.length === 0 ? undefined : createResponseCheck(this.responses, mode, this.title),
      watchThrown:
        mode === "check" && this.responses.length > 0
          ? (handler) => watchThrown(handler, { title: this.title, contract: this.contract, mapsErrors })
          : undefined,
      runOnce: idempotent && idempotency && ((handler) => idempotency.wrap(handler, idempotent)),
    };
  }

  /** A response that is stored is short, and a body with a new boundary is never the same again. */
  private checkIdempotent(): void {
    const { body, responses = {} } = this.contract;
    const bodies = body instanceof Content ? [body] : Object.values(Object(body));
    const { method } = this.route;
    if (method === "ANY" || isSafeMethod(method))
      this.refuse("idempotent", "a key has no meaning for this method", "use POST, PUT, PATCH or DELETE");
    if (bodies.some((each) => isContent(each as ContentDeclaration, "multipart")))
      this.refuse(
        "idempotent",
        "the body is a multipart form, which each attempt sends with another boundary",
        USE_FILES,
      );
    if (Object.values(responses).some((each) => isContent(each, "events", "json-lines", "file", "page", "redirect")))
      this.refuse("idempotent", "a response is a stream, a file, a page or a redirect, which is not stored", USE_JSON);
  }

  private compileParams(): ReadonlyMap<string, TextSchema> {
    const path = Path.read(this.route.path);
    const names = path instanceof Path ? path.names : [];
    const compiled = new Map<string, TextSchema>();
    const example = `params: { ${names[0] ?? "id"}: schema }`;
    const refuse = this.refuse.bind(this, "params");
    for (const [name, schema] of listContents(this.contract.params, example, refuse)) {
      if (!names.includes(name))
        this.refuse(
          `params.${name}`,
          "the path has no capture of this name",
          "name a capture of the path, or of the prefix of its table",
        );
      const part = this.compileText(schema, `params.${name}`);
      if (part !== undefined) compiled.set(name, part);
    }
    return compiled;
  }

  private compileHeaders(): InputParts["headers"] {
    const { headers } = this.contract;
    const part = this.compileText(headers, "headers");
    if (part === undefined || headers === undefined) return undefined;
    const schema = readKnownParts(headers, "input");
    const { properties, additionalProperties: others = false } = schema instanceof NoJsonSchema ? {} : schema;
    // A record, and a schema whose members stand in its alternatives, may take any header.
    const names = properties === undefined || others !== false ? undefined : Object.keys(properties);
    const upper = Object.keys(properties ?? {}).find((name) => name !== name.toLowerCase());
    if (upper !== undefined)
      this.refuse(
        "headers",
        `the name ${upper} has capitals, and Node gives names in lower case`,
        `write ${upper.toLowerCase()}`,
      );
    return { ...part, names };
  }

  private compileBody(): readonly BodyContent[] {
    const { body } = this.contract;
    if (body === undefined) return [];
    const fault = findBodyFault(this.route.method, body);
    if (fault !== undefined) {
      this.refuse("body", fault.what, fault.fix);
      return [];
    }
    const declared = isSchema(body) || body instanceof Content ? [[undefined, body] as const] : Object.entries(body);
    return declared.flatMap(([type, each]) => {
      const content = createBodyContent(each, (schema) => this.compileWire(schema, "body"), type);
      if (content === undefined)
        this.refuse(
          "body",
          "its content is neither a schema nor one that a request of its media type has",
          "give a schema for JSON, or content.form, content.multipart, content.text or content.bytes",
        );
      return content === undefined ? [] : { ...content, read: toOptionalReader(content.schema, content.read) };
    });
  }

  private compileResponses(): readonly ResponsePlan[] {
    const refuse = this.refuse.bind(this, "responses");
    if (hasNoContent(this.contract.responses)) refuse("it has no status", "give one, or leave out the responses");
    return listContents(this.contract.responses, "responses: { 200: schema }", refuse).flatMap(([status, content]) => {
      const fault = findResponseFault(status, content);
      if (fault === undefined) return [this.compileResponse(Number(status), content)];
      this.refuse(`responses.${status}`, fault.what, fault.fix);
      return [];
    });
  }

  private compileResponse(status: number, content: ContentDeclaration): ResponsePlan {
    const part = `responses.${status}`;
    const schema = isSchema(content) ? content : content.schema;
    if (schema === undefined) {
      const isSentAsIs = isContent(content, "page", "redirect") || status === 204;
      return { status, content, members: undefined, isSentAsIs };
    }
    const read = readJsonSchema(schema, "input") instanceof NoJsonSchema ? readKnownParts : readJsonSchema;
    const sent = read(schema, "input");
    const isSentAsIs = isSchema(content) && status === 200 && isObjectOrList(sent);
    if (sent instanceof NoJsonSchema) {
      this.unknown.push([part, sent.reason]);
      this.warn(part, `undeclared members of the response are not found: ${sent.reason}`);
      return { status, content, members: undefined, isSentAsIs };
    }
    const change = findFormChange(sent, read(schema, "output"));
    if (change !== undefined)
      this.warnings.push({
        message: `a schema changes the JSON form of a response at ${change}; the value of the handler is sent, and the output of the schema is not`,
        fields: { route: this.title, part },
      });
    return { status, content, members: compileDeclaredMembers(sent), isSentAsIs };
  }

  private compileText(schema: Schema | undefined, part: string): TextSchema | undefined {
    if (schema === undefined) return undefined;
    if (isSchema(schema)) return { schema, convert: this.compileWire(schema, part) };
    this.refuse(part, "it is no schema", "give a Standard Schema, such as one of zod, valibot or arktype");
    return undefined;
  }

  private compileWire(schema: Schema, part: string): WireConverter {
    const jsonSchema = readKnownParts(schema, "input");
    if (!(jsonSchema instanceof NoJsonSchema)) return compileWireValue(jsonSchema);
    this.warn(part, `its values stay texts: ${jsonSchema.reason}`);
    return keepTexts;
  }

  private refuse(part: string, what: string, fix: string): void {
    this.diagnostics.push({ code: "E_CONTRACT", what: `${part} of ${this.title}: ${what}`, where: this.title, fix });
  }

  private warn(part: string, message: string): void {
    this.warnings.push({
      message: `a schema has no JSON Schema, so ${message}; ${STATE_JSON_SCHEMA}`,
      fields: { route: this.title, part },
    });
  }
}
