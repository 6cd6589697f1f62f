/** For the developer who has just typed `npm start`: the running stages, and links to look at them. */
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksIndex } from "../../contracts.js";

type Shown = NonNullable<PropsOf<typeof linksIndex>["overview"]>;

export function Overview({ stages, line }: Shown) {
  return (
    <section className="card overview" aria-labelledby="overview">
      <h2 id="overview">What runs here</h2>
      <p>Stages that are on, from the outside inwards:</p>
      <ol className="stages">
        {stages.map((stage) => (
          <li key={stage}>
            <code>{stage}</code>
          </li>
        ))}
      </ol>
      <p>
        <a href="/up">/up</a> is the health of this process. <a href="/metrics">/metrics</a> counts requests, for
        Prometheus; only this machine may read it. <a href="/docs">/docs</a> is the API document.{" "}
        <a href="/dev/mails">/dev/mails</a> has the mails that no server sends. <code>/admin</code> is for the accounts
        whose addresses are in <code>ADMINS</code>. <a href="/guide/index.md">The guide</a> begins with the first steps.
      </p>
      <p>This request is the following line in the terminal, with its time and duration:</p>
      <p className="log">
        <code>{line}</code>
      </p>
    </section>
  );
}
