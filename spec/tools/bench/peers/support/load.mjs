/** Load by autocannon, for machines without wrk: prints what spec/tools/bench/load.ts calls a Sample. */
import autocannon from "autocannon";

const { port, requests, seconds, connections } = JSON.parse(process.argv[2]);
const result = await autocannon({ url: `http://127.0.0.1:${port}`, requests, duration: seconds, connections });

console.log(
  JSON.stringify({
    responses: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failures: result.errors + result.timeouts + result["4xx"] + result["5xx"],
  }),
);
