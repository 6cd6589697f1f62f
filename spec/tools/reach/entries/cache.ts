import { MemoryCache } from "@stagecraft/framework/cache";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysCache } from "@stagecraft/framework/testing/contracts";

const clock = new FakeClock();
await obeysCache(new MemoryCache({ clock }), { pass: (ms) => clock.advance(ms) });
console.log("works");
