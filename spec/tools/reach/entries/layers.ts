import {
  BodyLimitLayer,
  CatchPanicLayer,
  CompressionLayer,
  CorsLayer,
  ErrorMapping,
  TimeoutLayer,
} from "@stagecraft/framework";
import { AccessLogLayer, Metrics, MetricsLayer } from "@stagecraft/framework/observe";
import { obeysLayerContract } from "@stagecraft/framework/testing/contracts";

const origin = "https://app.example";
await obeysLayerContract(new CompressionLayer({ threshold: 0 }), {
  request: { headers: { "accept-encoding": "gzip" } },
});
await obeysLayerContract(new CorsLayer({ origins: [origin] }), {
  request: { headers: { origin } },
  refused: { method: "OPTIONS", headers: { origin, "access-control-request-method": "PUT" } },
});
await obeysLayerContract(new AccessLogLayer());
await obeysLayerContract(new MetricsLayer(new Metrics()));
await obeysLayerContract(new CatchPanicLayer(), { respondsToErrors: true });
await obeysLayerContract(new ErrorMapping());
await obeysLayerContract(new BodyLimitLayer(3), {
  request: { method: "POST", body: "abc" },
  refused: { method: "POST", body: "abcd" },
});
await obeysLayerContract(new TimeoutLayer(60_000));
console.log("works");
