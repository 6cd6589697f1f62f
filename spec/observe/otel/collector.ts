/**
 * A collector for specs: a gRPC server on 127.0.0.1 that decodes OTLP trace exports with the code of the official protobuf definitions.
 * `behaviour` sets its response: success, an error, or none.
 */
import { Metadata, Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import definitions from "otlp-definitions/build/src/generated/root.js";

/** A decoded span: 64-bit integers are text, bytes are base64, default values are absent. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly droppedAttributesCount?: number;
  readonly events?: readonly unknown[];
  readonly links?: readonly unknown[];
  readonly status?: { readonly code?: string; readonly message?: string };
  readonly flags?: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly ExportedSpan[];
    }[];
  }[];
}

interface Codec {
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): ExportRequest;
}

// The generated declarations do not name the messages.
const { trace } = (
  definitions as unknown as { opentelemetry: { proto: { collector: { trace: { v1: Record<string, Codec> } } } } }
).opentelemetry.proto.collector;
const codec = trace.v1["ExportTraceServiceRequest"] as Codec;

const PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const EMPTY_RESPONSE = Buffer.alloc(0);

/** `ExportTraceServiceResponse { partial_success { rejected_spans: 1, error_message: "no" } }` */
const ALL_BUT_ONE = Buffer.from([0x0a, 6, 0x08, 1, 0x12, 2, 0x6e, 0x6f]);

type Behaviour = "accept" | "keep all but one" | "refuse" | "ignore";

export interface Refusal {
  readonly code: number;
  /** The trailer `grpc-status-details-bin`. */
  readonly details?: Buffer;
}

export class Collector {
  behaviour: Behaviour = "accept";
  /** The responses to the next exports, before `behaviour` decides. */
  readonly refusals: Refusal[] = [];
  readonly requests: ExportRequest[] = [];
  private readonly waiting: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** Listens on the port `at`; the default is a free port. */
  static async start(at = 0): Promise<Collector> {
    const server = new Server();
    let collector: Collector | undefined;
    server.addService(
      { Export: { path: PATH, requestStream: false, responseStream: false, ...RAW } },
      {
        Export: (call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) =>
          collector?.take(call.request, respond),
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${at}`, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    collector = new Collector(server, port);
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get spans(): readonly ExportedSpan[] {
    return this.requests.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  }

  /** The only span of a name. Throws if there are none or several. */
  span(name: string): ExportedSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} spans named ${name}`);
    return found[0];
  }

  /** Resolves when the next export arrives, with every `behaviour`. */
  nextRequest(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Closes the server and its connections at once. */
  stop(): void {
    this.server.forceShutdown();
  }

  private take(bytes: Buffer, respond: sendUnaryData<Buffer>): void {
    const refusal = this.refusals.shift();
    if (refusal === undefined) this.respondAs(this.behaviour, bytes, respond);
    else respond(errorOf(refusal));
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private respondAs(behaviour: Behaviour, bytes: Buffer, respond: sendUnaryData<Buffer>): void {
    if (behaviour === "accept") this.requests.push(decode(bytes));
    if (behaviour === "accept") respond(null, EMPTY_RESPONSE);
    if (behaviour === "keep all but one") respond(null, ALL_BUT_ONE);
    if (behaviour === "refuse") respond({ code: status.INTERNAL, details: "the disk is full" });
  }
}

function errorOf({ code, details }: Refusal): { code: number; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  if (details !== undefined) metadata.set("grpc-status-details-bin", details);
  return { code, details: "not now", metadata };
}

const RAW = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };

function same(bytes: Buffer): Buffer {
  return bytes;
}

function decode(bytes: Buffer): ExportRequest {
  return codec.toObject(codec.decode(bytes), { longs: String, bytes: String, enums: String, arrays: false });
}

/** Converts an id from base64 to hexadecimal. */
export function hex(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("hex");
}

/** Attributes as plain values. Integers become numbers. */
export function attributesOf({
  attributes = [],
}: {
  readonly attributes?: readonly KeyValue[];
}): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Readonly<Record<string, unknown>>): unknown {
  const [kind, content] = Object.entries(value)[0] ?? [];
  if (kind === "intValue") return Number(content);
  if (kind !== "arrayValue") return content;
  // An array value has a member `values` of attribute values.
  return (content as { values?: readonly Record<string, unknown>[] }).values?.map(plain) ?? [];
}
