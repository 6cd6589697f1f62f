/** Where a person is signed in, the device of the request first. */
import type { PropsOf } from "@stagecraft/framework/pages";
import type { devices as contract } from "../../contracts.js";
import { nameDevice } from "../parts/device-name.js";
import { PostButton } from "../parts/form.js";
import { Text, useMessages } from "../parts/messages.js";
import { ProfilePage, Time } from "../parts/profile-page.js";

type Props = PropsOf<typeof contract>;

export function Page({ devices }: Props) {
  const { t } = useMessages();
  return (
    <ProfilePage title={t("page-devices")}>
      <ul className="rows">
        {devices.map((device) => (
          <Device key={device.id} {...device} />
        ))}
      </ul>
      {devices.length > 1 && (
        <div className="actions">
          <PostButton action="/account/devices/others" className="button dangerous">
            {t("page-sign-out-others")}
          </PostButton>
        </div>
      )}
    </ProfilePage>
  );
}

function Device({ id, userAgent, address, isCurrent, isRemembered, lastUsedAt }: Props["devices"][number]) {
  const { t } = useMessages();
  const name = nameDevice(t, userAgent);
  return (
    <li className="row entry">
      <div className="row-text">
        <strong>{name}</strong>
        {isCurrent && <span className="tag">{t("page-this-one")}</span>}
        {isRemembered && <span className="tag">{t("page-stays-signed-in")}</span>}
        <p className="target">
          <Text id="page-device-used" values={{ address }} elements={{ time: <Time at={lastUsedAt} /> }} />
        </p>
      </div>
      {!isCurrent && (
        <PostButton action={`/account/devices/${id}`} className="button ghost small">
          {t("page-sign-out-there")}
          <span className="visually-hidden">: {name}</span>
        </PostButton>
      )}
    </li>
  );
}
