/** The recovery codes, which are shown once. */
import { Link } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { recoveryCodes } from "../../contracts.js";
import { CopyButton } from "../parts/copy-button.js";
import { PostButton } from "../parts/form.js";
import { ProfilePage } from "../parts/profile-page.js";

export function Page({ left, codes }: PropsOf<typeof recoveryCodes>) {
  return (
    <ProfilePage title="Recovery codes">
      <section className="card">
        {codes === undefined ? (
          <>
            <p>You have {left} of them. New ones take their place.</p>
            <div className="actions">
              <PostButton action="/account/recovery-codes" className="button">
                Show new codes
              </PostButton>
            </div>
          </>
        ) : (
          <>
            <p>Each of them signs you in once, in the place of the app. Print them: they are not shown again.</p>
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
                I have stored them
              </Link>
            </div>
          </>
        )}
      </section>
    </ProfilePage>
  );
}
