import { MemoryStorage } from "@stagecraft/framework/storage";
import { obeysStorage } from "@stagecraft/framework/testing/contracts";

await obeysStorage(new MemoryStorage());
console.log("works");
