import { profile, token } from "@stagecraft/framework";

/** Where a person finds mails that no server sends; `null` where a server sends them. */
export const MAIL_PLACE = token<string | null>("MAIL_PLACE");

/** The page of the mails of a debug build, and the folder of a release build. */
export const MAIL_PAGE = "/dev/mails";
export const MAIL_FOLDER = "mails";

export function findMailPlace(smtpUrl: string | undefined): string | null {
  if (smtpUrl !== undefined) return null;
  return profile === "release" ? MAIL_FOLDER : MAIL_PAGE;
}
