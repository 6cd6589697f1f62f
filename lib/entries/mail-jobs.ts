/** The entry point `@stagecraft/framework/mail/jobs`: mails that jobs send. */
export { mailJobs, mailQueue } from "../mail/mail-jobs.js";
