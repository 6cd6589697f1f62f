/** Hashes of passwords that take no time, for the specs of applications. */
import { type Binding, provide } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";

export function cheapPasswords(): Binding {
  return provide(Passwords).useValue(new Passwords({ scrypt: { logN: 4, blockSize: 8, parallelism: 1 } }));
}
