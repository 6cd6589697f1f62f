/** Series for the alerts of the guide, in the notation of promtool: `0+3x40` begins at 0 and grows by 3 in each of 40 steps of 15 s. */

interface AlertTest {
  readonly name: string;
  readonly interval: "15s";
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test: readonly {
    readonly eval_time: string;
    readonly alertname: string;
    readonly exp_alerts: readonly {
      readonly exp_labels: Readonly<Record<string, string>>;
      readonly exp_annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}

const ONE = 'job="shop", instance="one:3000"';
const PAGE = { severity: "page" };
const TICKET = { severity: "ticket" };

function test(
  alertname: string,
  name: string,
  at: string,
  series: Readonly<Record<string, string>>,
  expected?: { readonly labels: Readonly<Record<string, string>>; readonly summary: string },
): AlertTest {
  const input_series = Object.entries(series).map(([each, values]) => ({ series: each, values }));
  const alerts =
    expected === undefined ? [] : [{ exp_labels: expected.labels, exp_annotations: { summary: expected.summary } }];
  return { name, interval: "15s", input_series, alert_rule_test: [{ eval_time: at, alertname, exp_alerts: alerts }] };
}

const ok = `http_requests_total{${ONE}, method="GET", route="/", status="200"}`;
const failed = `http_requests_total{${ONE}, method="GET", route="/", status="500"}`;
const scraped = `http_requests_total{${ONE}, method="GET", route="/metrics", status="200"}`;
const below = (le: string, route = "/") =>
  `http_request_duration_seconds_bucket{${ONE}, method="GET", route="${route}", le="${le}"}`;
const up = `up{${ONE}}`;
const ready = `shop_ready{${ONE}}`;
const killed = `framework_workers_ended_total{${ONE}, reason="killed"}`;
const replaced = `framework_workers_ended_total{${ONE}, reason="replaced"}`;
const late = `shop_jobs_late_seconds{${ONE}}`;
const dead = `shop_jobs_dead{${ONE}}`;
const unhandled = `framework_jobs_unhandled{${ONE}, subsystem="jobs", exported_job="mail.welcome", queue="mail"}`;
const waiting = `framework_db_pool_waiting{${ONE}, subsystem="database"}`;
const loop = `shop_event_loop_ratio{${ONE}}`;

const away = {
  labels: { ...PAGE, job: "shop", instance: "one:3000" },
  summary: "one:3000 is down, restarts again and again, or is not ready",
};
const waits = "jobs wait: no process works the queue, none has a handler, or all are too slow";
const busy = {
  labels: { ...TICKET, job: "shop", instance: "one:3000" },
  summary: "one:3000 has too few connections to the database, or no processor time left",
};
const busyPool = { ...busy, labels: { ...busy.labels, subsystem: "database" } };

export const ALERT_TESTS: readonly AlertTest[] = [
  test(
    "RequestsFail",
    "5 %",
    "10m",
    { [ok]: "0+95x60", [failed]: "0+5x60" },
    {
      labels: PAGE,
      summary: "5% of the requests fail",
    },
  ),
  test("RequestsFail", "1 %", "10m", { [ok]: "0+99x60", [failed]: "0+1x60" }),
  test("RequestsFail", "one of few", "10m", { [ok]: "0+0x60", [failed]: "0x20 1x40" }),
  test(
    "RequestsFail",
    "5 %, beside many requests of Prometheus",
    "10m",
    {
      [ok]: "0+95x60",
      [failed]: "0+5x60",
      [scraped]: "0+1000x60",
    },
    { labels: PAGE, summary: "5% of the requests fail" },
  ),
  test("RequestsFail", "a burst of one minute", "10m", { [ok]: "0+100x60", [failed]: "0x8 0+20x4 80x48" }),
  test(
    "ResponsesSlow",
    "2 % of two seconds",
    "15m",
    {
      [below("1")]: "0+98x80",
      [below("2.5")]: "0+100x80",
      [below("+Inf")]: "0+100x80",
    },
    { labels: PAGE, summary: "one of a hundred requests takes 1.75s or longer" },
  ),
  test("ResponsesSlow", "fast", "15m", {
    [below("1")]: "0+100x80",
    [below("2.5")]: "0+100x80",
    [below("+Inf")]: "0+100x80",
  }),
  test("ResponsesSlow", "slow metrics alone", "15m", {
    [below("1")]: "0+100x80",
    [below("2.5")]: "0+100x80",
    [below("+Inf")]: "0+100x80",
    [below("1", "/metrics")]: "0+0x80",
    [below("2.5", "/metrics")]: "0+50x80",
    [below("+Inf", "/metrics")]: "0+50x80",
  }),
  test("ProcessAway", "down", "10m", { [up]: "1x20 0x40" }, away),
  test(
    "ProcessAway",
    "restarts each minute",
    "10m",
    { [up]: "1 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1" },
    away,
  ),
  test("ProcessAway", "not ready", "10m", { [up]: "1x60", [ready]: "1x20 0x40" }, away),
  test(
    "ProcessAway",
    "no process known",
    "10m",
    {},
    {
      labels: { ...PAGE, job: "shop" },
      summary: " is down, restarts again and again, or is not ready",
    },
  ),
  test(
    "ProcessAway",
    "a worker is killed every two minutes",
    "15m",
    { [up]: "1x80", [killed]: "0x7 1x7 2x7 3x7 4x7 5x7 6x7 7x7" },
    away,
  ),
  test("ProcessAway", "one worker is killed, and all are replaced", "15m", {
    [up]: "1x80",
    [killed]: "0x30 1x50",
    [replaced]: "0x30 8x50",
  }),
  test("ProcessAway", "one restart", "10m", { [up]: "1x35 0 1x24", [ready]: "1x35 0 1x24" }),
  test("JobsWait", "late", "20m", { [late]: "0+15x100" }, { labels: { ...TICKET, job: "shop" }, summary: waits }),
  test(
    "JobsWait",
    "without a handler",
    "20m",
    { [unhandled]: "3x100" },
    {
      labels: { ...TICKET, exported_job: "mail.welcome", queue: "mail" },
      summary: waits,
    },
  ),
  test("JobsWait", "a deploy of five minutes, and a store that is away", "20m", {
    [late]: "20x10 _x90",
    [unhandled]: "0x50 3x20 0x30",
  }),
  test(
    "DeadLetters",
    "one more",
    "20m",
    { [dead]: "2x60 3x40" },
    {
      labels: { ...TICKET, job: "shop" },
      summary: "jobs have failed for good in the last 15 minutes",
    },
  ),
  test("DeadLetters", "old ones, and one fewer", "20m", { [dead]: "3x60 2x40" }),
  test("Saturated", "callers wait", "10m", { [waiting]: "0x10 4x50" }, busyPool),
  test("Saturated", "a busy loop", "15m", { [loop]: "0.97x80" }, busy),
  test("Saturated", "callers wait for a moment, and a loop that is busy for a minute", "10m", {
    [waiting]: "0x30 4x4 0x26",
    [loop]: "0.5x30 1x4 0.5x26",
  }),
];
