/**
 * The entry point `@stagecraft/framework/mail`: mails as classes, the mailers in memory and of files. Needs no further package.
 */
export { isMailAddress, type MailAddress, type Mailbox } from "../mail/address.js";
export type { ContentAttachment, MailAttachment, MailFile, MailStorage, StoredAttachment } from "../mail/attachment.js";
export { FileMailer, type FileMailerOptions } from "../mail/file-mailer.js";
export { html, MailHtml, trustedHtml, type MailHtmlValue } from "../mail/html.js";
export { MailContentError, MailRefusedError, MailUnavailableError, type MailContentCode } from "../mail/mail-error.js";
export type { MailMessage } from "../mail/mail-message.js";
export { readQueuedMail, type MailQueue, type QueuedMailData } from "../mail/mail-queue.js";
export type { MailRecord } from "../mail/mail-records.js";
export type { MailResult, RefusedRecipient } from "../mail/mail-result.js";
export { Mail, OutgoingMail, type MailClass, type MailOptions, type QueuedMailState } from "../mail/mail.js";
export { Mailer, type MailerOptions } from "../mail/mailer.js";
export { MemoryMailer, type ExpectedMail, type MemoryMailerOptions } from "../mail/memory-mailer.js";
export type { MailContent } from "../mail/mime.js";
