/** For the developer who has just typed `npm start`: the running stages, and links to look at them. */
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksIndex } from "../../contracts.js";
import { Text, useMessages } from "./messages.js";

type Shown = NonNullable<PropsOf<typeof linksIndex>["overview"]>;

export function Overview({ stages, line }: Shown) {
  const { t } = useMessages();
  return (
    <section className="card overview" aria-labelledby="overview">
      <h2 id="overview">{t("page-overview")}</h2>
      <p>{t("page-overview-stages")}</p>
      <ol className="stages">
        {stages.map((stage) => (
          <li key={stage}>
            <code>{stage}</code>
          </li>
        ))}
      </ol>
      <p>
        <Text
          id="page-overview-places"
          elements={{
            up: <a href="/up">/up</a>,
            metrics: <a href="/metrics">/metrics</a>,
            docs: <a href="/docs">/docs</a>,
            mails: <a href="/dev/mails">/dev/mails</a>,
            admin: <code>/admin</code>,
            admins: <code>ADMINS</code>,
            guide: <a href="/guide/index.md">{t("page-overview-guide")}</a>,
          }}
        />
      </p>
      <p>{t("page-overview-line")}</p>
      <p className="log">
        <code>{line}</code>
      </p>
    </section>
  );
}
