/** The visits of the last days as bars. A screen reader gets the same numbers as a table. */
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksShow } from "../../contracts.js";
import { useMessages } from "./messages.js";

type Days = NonNullable<PropsOf<typeof linksShow>["clicks"]>;

const HEIGHT = 120;
const STEP = 32;
const BAR = 22;

export function Chart({ days }: { readonly days: Days }) {
  const { t } = useMessages();
  const most = Math.max(1, ...days.map(({ visits }) => visits));
  const total = days.reduce((sum, { visits }) => sum + visits, 0);
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${days.length * STEP} ${HEIGHT + 24}`} aria-hidden="true" focusable="false">
        {days.map(({ day, visits }, at) => {
          const height = Math.max(3, Math.round((visits / most) * (HEIGHT - 18)));
          const x = at * STEP + (STEP - BAR) / 2;
          return (
            <g key={day} className={visits === 0 ? "none" : "some"}>
              <rect x={x} y={HEIGHT - height} width={BAR} height={height} rx="4" />
              {visits > 0 && (
                <text x={x + BAR / 2} y={HEIGHT - height - 5} className="count">
                  {visits}
                </text>
              )}
              <text x={x + BAR / 2} y={HEIGHT + 17}>
                {Number(day.slice(8))}
              </text>
            </g>
          );
        })}
      </svg>
      <figcaption>{t("page-visits-lately", { count: total })}</figcaption>
      <table className="visually-hidden">
        <caption>{t("page-visits-by-day")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("page-day")}</th>
            <th scope="col">{t("page-visit-count")}</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, visits }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>{visits}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** In the place of the bars until their numbers have come. */
export function ChartSkeleton() {
  const { t } = useMessages();
  return (
    <div className="chart skeleton" role="img" aria-label={t("page-visits-loading")}>
      {Array.from({ length: 14 }, (_, at) => (
        <span key={at} />
      ))}
    </div>
  );
}
