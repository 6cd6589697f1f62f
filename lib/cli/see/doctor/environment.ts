/** The environment of the process: the build profile, the public URL, and the port. */
import { createServer } from "node:net";
import { once } from "node:events";
import { type AppConfig, resolvePort, type Environment, type PortSettings } from "../../../app/config.js";
import { causeText } from "../../../errors/thrown-value.js";
import type { Finding } from "./finding.js";

const NODE_ENVS = ["development", "test", "production"];

const check = "environment";

export function checkEnvironment(env: Environment, config: AppConfig): readonly Finding[] {
  const nodeEnv = env["NODE_ENV"];
  if (nodeEnv !== undefined && nodeEnv !== "" && !NODE_ENVS.includes(nodeEnv))
    return [
      {
        level: "fail",
        check,
        what: `NODE_ENV is ${JSON.stringify(nodeEnv)}`,
        fix: `set it to ${NODE_ENVS.join(", ")}; APP_ENV takes other names`,
      },
    ];
  if (nodeEnv === "production" && /^https?:\/\/localhost\b/.test(config.url))
    return [
      {
        level: "warn",
        check,
        what: `the public URL of a release build is ${config.url}`,
        fix: "set APP_URL to the URL that clients use",
      },
    ];
  return [
    { level: "ok", check, what: `NODE_ENV is ${nodeEnv ?? "not set: a debug build"}; the public URL is ${config.url}` },
  ];
}

interface ListenSettings extends PortSettings {
  readonly host: string;
}

/** A port that is taken is a warning, because the application itself may have it. */
export async function checkPort(env: Environment, { host, ...settings }: ListenSettings): Promise<Finding> {
  const port = resolvePort(env, settings);
  const server = createServer();
  try {
    await once(server.listen(port, host), "listening");
    return { level: "ok", check: "port", what: port === 0 ? "any free port" : `${host}:${port} is free` };
  } catch (error) {
    const fix = "end the process that has it, or set PORT";
    return { level: "warn", check: "port", what: `${host}:${port} cannot be opened: ${causeText(error)}`, fix };
  } finally {
    server.close();
  }
}
