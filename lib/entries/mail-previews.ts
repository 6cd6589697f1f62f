/** The entry point `@stagecraft/framework/mail/previews`: the preview page of mails, for debug builds. */
export { mailPreviews } from "../mail/mail-previews.js";
