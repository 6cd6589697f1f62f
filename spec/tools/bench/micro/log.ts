/**
 * A log line: six fields inside one span of four, with a message, as JSON with an ISO time, one synchronous write each to standard error,
 * which the benchmark sends to /dev/null. What pino needs a child logger for, the span does.
 */

import { installLogging } from "@stagecraft/framework/observe";
import { tracing } from "@stagecraft/framework/observe/tracing";
import type { Comparison } from "./comparison.js";
import { peerPackage } from "./peer-package.js";

interface Pino {
  (options: object, destination: object): PinoLogger;
  destination(options: object): object;
  readonly stdTimeFunctions: { readonly isoTime: () => string };
}

interface PinoLogger {
  child(fields: object): PinoLogger;
  info(fields: object, message: string): void;
}

type Fields = (turn: number) => Readonly<Record<string, unknown>>;

const STANDARD_ERROR = 2;

const SPAN = {
  request_id: "0af7651916cd43dd8448eb211c80319c",
  method: "POST",
  path: "/orders",
  client_ip: "192.0.2.7",
};

/** New objects every time, as a caller writes them. */
function flat(turn: number): ReturnType<Fields> {
  return { order: turn, currency: "EUR", amount: 129.5, gift: false, shop: "main street", items: 3 };
}

function nested(turn: number): ReturnType<Fields> {
  return {
    order: turn,
    currency: "EUR",
    user: { id: 7, name: "Ada", password: "opensesame" },
    payment: { kind: "visa", card: "4111 1111 1111 1111" },
    headers: { accept: "*/*", authorization: "Bearer abc" },
    items: 3,
  };
}

export function logComparisons(): readonly Comparison[] {
  const pino = peerPackage<Pino>("pino");
  const redact = { paths: ["user.password", "payment.card", "headers.authorization"], censor: "[redacted]" };
  installLogging("info");
  return [
    comparison("a line, six fields and a span", pinoLogger(pino, {}), flat),
    comparison("a line, six fields, three of them nested, without redaction in pino", pinoLogger(pino, {}), nested),
    comparison("the same with redaction in pino", pinoLogger(pino, { redact }), nested),
  ];
}

function pinoLogger(pino: Pino, options: object): PinoLogger {
  const destination = pino.destination({ fd: STANDARD_ERROR, sync: true });
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ base: null, messageKey: "message", timestamp, ...options }, destination).child(SPAN);
}

function comparison(what: string, peer: PinoLogger, fields: Fields): Comparison {
  const log = tracing.target("shop::orders");
  return {
    what,
    contenders: [
      {
        name: "pino",
        run: (times) => {
          for (let turn = 0; turn < times; turn += 1) peer.info(fields(turn), "order placed");
        },
      },
      {
        name: "stagecraft",
        run: (times) =>
          log.span("framework.request", SPAN).run(() => {
            for (let turn = 0; turn < times; turn += 1) log.info("order placed", fields(turn));
          }),
      },
    ],
  };
}
