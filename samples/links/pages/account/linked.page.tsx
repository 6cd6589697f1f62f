/** The accounts at the provider by which a person signs in. */
import { Link, usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linked as contract } from "../../contracts.js";
import { PostButton } from "../parts/form.js";
import { Text, useMessages } from "../parts/messages.js";
import { ProfilePage, Time } from "../parts/profile-page.js";
import { ProviderLink } from "../parts/provider-link.js";

type Props = PropsOf<typeof contract>;

export function Page({ accounts, hasPassword }: Props) {
  const { provider } = usePage().props;
  const { t } = useMessages();
  return (
    <ProfilePage title={t("page-linked")}>
      <section className="card" aria-labelledby="accounts">
        <h2 id="accounts">{t("page-linked-at", { provider: provider ?? "" })}</h2>
        <p className="aside">{t("page-linked-text")}</p>
        {accounts.length > 0 && (
          <ul className="rows flat">
            {accounts.map((account) => (
              <Account key={account.id} {...account} />
            ))}
          </ul>
        )}
        {!hasPassword && (
          <p className="note-box">
            <Text
              id="page-linked-no-password"
              values={{ provider: provider ?? "" }}
              elements={{ link: <Link href="/account/forgot">{t("page-linked-set-password")}</Link> }}
            />
          </p>
        )}
        <div className="actions">
          <ProviderLink isLink text={accounts.length > 0 ? "page-linked-another" : "page-linked-first"} />
        </div>
      </section>
    </ProfilePage>
  );
}

function Account({ id, email, createdAt, lastUsedAt }: Props["accounts"][number]) {
  const { t } = useMessages();
  const name = email === "" ? t("page-linked-nameless") : email;
  return (
    <li className="row entry">
      <div className="row-text">
        <strong>{name}</strong>
        <p className="target">
          <Text id="page-linked-times" elements={{ linked: <Time at={createdAt} />, used: <Time at={lastUsedAt} /> }} />
        </p>
      </div>
      <PostButton
        action={`/account/linked/${id}`}
        className="button ghost small"
        question={t("page-unlink-question", { name })}
      >
        {t("page-unlink")}
        <span className="visually-hidden"> {name}</span>
      </PostButton>
    </li>
  );
}
