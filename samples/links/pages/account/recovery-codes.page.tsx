/** The recovery codes, which are shown once. */
import { Link } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { recoveryCodes } from "../../contracts.js";
import { CopyButton } from "../parts/copy-button.js";
import { PostButton } from "../parts/form.js";
import { useMessages } from "../parts/messages.js";
import { ProfilePage } from "../parts/profile-page.js";

export function Page({ left, codes }: PropsOf<typeof recoveryCodes>) {
  const { t } = useMessages();
  return (
    <ProfilePage title={t("page-codes")}>
      <section className="card">
        {codes === undefined ? (
          <>
            <p>{t("page-codes-left", { count: left })}</p>
            <div className="actions">
              <PostButton action="/account/recovery-codes" className="button">
                {t("page-codes-show")}
              </PostButton>
            </div>
          </>
        ) : (
          <>
            <p>{t("page-codes-text")}</p>
            <ul className="codes">
              {codes.map((code) => (
                <li key={code}>
                  <code>{code}</code>
                </li>
              ))}
            </ul>
            <div className="actions">
              <CopyButton text={codes.join("\n")} />
              <Link className="button small" href="/account/security">
                {t("page-codes-stored")}
              </Link>
            </div>
          </>
        )}
      </section>
    </ProfilePage>
  );
}
