/**
 * Run by otel.ts: a collector in a process of its own, which only counts, so that half a core is enough for any server. It prints
 * `ready <port>`, and for every line of input the number of spans so far.
 */

import { createInterface } from "node:readline";
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { countSpans } from "./span-count.js";

const PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const EMPTY_RESPONSE = Buffer.alloc(0);
const same = (bytes: Buffer): Buffer => bytes;
const RAW = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };

let count = 0;
const server = new Server();
server.addService(
  { Export: { path: PATH, requestStream: false, responseStream: false, ...RAW } },
  {
    Export: ({ request }: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) => {
      count += countSpans(request);
      respond(null, EMPTY_RESPONSE);
    },
  },
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  console.log(`ready ${port}`);
});
for await (const _ of createInterface({ input: process.stdin })) console.log(`spans ${count}`);
