/** Compile-only: the types of the values that `environment` returns. */
import { environment, variable } from "../../lib/entries/main.js";

const values = environment(
  {
    PORT: variable.port().default(3000),
    KEY: variable.text().secret().optional(),
    ORIGINS: variable.origin().list(),
    MODE: variable.oneOf("fast", "safe").default("safe"),
    DEPTH: variable.rule("a depth", (text) => BigInt(text), "write digits"),
  },
  { DEPTH: "1" },
);

const exact: {
  readonly PORT: number;
  readonly KEY: string | undefined;
  readonly ORIGINS: readonly string[];
  readonly MODE: "fast" | "safe";
  readonly DEPTH: bigint;
} = values;

// @ts-expect-error an optional variable may be undefined
const key: string = values.KEY;

// @ts-expect-error the table has no such variable
const missing: unknown = values.HOST;

// @ts-expect-error the default has the type of the variable
variable.port().default("3000");

// @ts-expect-error the default is one of the words
variable.oneOf("fast", "safe").default("slow");

// @ts-expect-error the scheme of a URL ends with a colon
variable.serverUrl("redis");

// @ts-expect-error the values are read-only
values.PORT = 1;

export const typed: readonly unknown[] = [exact, key, missing];
