/** The accounts at the provider by which a person signs in. */
import { Link, usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linked as contract } from "../../contracts.js";
import { PostButton } from "../parts/form.js";
import { ProfilePage, Time } from "../parts/profile-page.js";
import { ProviderLink } from "../parts/provider-link.js";

type Props = PropsOf<typeof contract>;

export function Page({ accounts, hasPassword }: Props) {
  const { provider } = usePage().props;
  return (
    <ProfilePage title="Linked accounts">
      <section className="card" aria-labelledby="accounts">
        <h2 id="accounts">At {provider}</h2>
        <p className="aside">With a linked account you sign in here without a password.</p>
        {accounts.length > 0 && (
          <ul className="rows flat">
            {accounts.map((account) => (
              <Account key={account.id} {...account} />
            ))}
          </ul>
        )}
        {!hasPassword && (
          <p className="note-box">
            You have no password. <Link href="/account/forgot">Set one</Link>, for the day on which {provider} is not
            there.
          </p>
        )}
        <div className="actions">
          <ProviderLink isLink text={accounts.length > 0 ? "Link another account at" : "Link your account at"} />
        </div>
      </section>
    </ProfilePage>
  );
}

function Account({ id, email, createdAt, lastUsedAt }: Props["accounts"][number]) {
  const name = email === "" ? "An account without an address" : email;
  return (
    <li className="row entry">
      <div className="row-text">
        <strong>{name}</strong>
        <p className="target">
          Linked <Time at={createdAt} />, last used <Time at={lastUsedAt} />
        </p>
      </div>
      <PostButton action={`/account/linked/${id}`} className="button ghost small" question={`Unlink ${name}?`}>
        Unlink<span className="visually-hidden"> {name}</span>
      </PostButton>
    </li>
  );
}
