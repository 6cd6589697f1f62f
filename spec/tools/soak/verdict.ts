/** The disagreements of a soak between lines, responses and counters; none where they agree. */
import type { Soaked } from "./soak.js";

export function disagreements(soaked: Soaked): readonly string[] {
  return [...countersAgainstLines(soaked), ...responsesAgainstLines(soaked), ...clientsAgainstLines(soaked)];
}

/** Exact: the last page counts everything except its own scrape. */
function countersAgainstLines({ counted, reading }: Soaked): readonly string[] {
  const lines = new Map(reading.series);
  lines.set("GET 200", (lines.get("GET 200") ?? 0) - 1);
  const names = [...new Set([...counted.keys(), ...lines.keys()])];
  return names
    .filter((name) => counted.get(name) !== lines.get(name))
    .map((name) => `${name}: ${lines.get(name) ?? 0} access lines, ${counted.get(name) ?? 0} counted in /metrics`);
}

/** Exact without wrk, which does not report the requests in flight at its end. */
function responsesAgainstLines({ responses, onTheirWay, reading: { requests } }: Soaked): readonly string[] {
  const more = requests - responses;
  if (more >= 0 && more <= onTheirWay) return [];
  return [`${requests} access lines for ${responses} responses, of which at most ${onTheirWay} were not received`];
}

function clientsAgainstLines({ byClient, reading }: Soaked): readonly string[] {
  return byClient.flatMap((responses, client) => {
    const lines = reading.byClient[client] ?? 0;
    return lines === responses ? [] : [`client ${client}: ${lines} access lines for ${responses} responses`];
  });
}
