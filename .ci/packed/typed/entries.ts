/** Compiled, never run: the types of every entry point that needs no optional package stand by themselves. */
export * as main from "@stagecraft/framework";
export * as observe from "@stagecraft/framework/observe";
export * as metrics from "@stagecraft/framework/observe/metrics";
export * as redact from "@stagecraft/framework/observe/redact";
export * as routes from "@stagecraft/framework/routes";
export * as jobs from "@stagecraft/framework/jobs";
export * as session from "@stagecraft/framework/session";
export * as sessionRedis from "@stagecraft/framework/session/redis";
export * as storage from "@stagecraft/framework/storage";
export * as storageFs from "@stagecraft/framework/storage/fs";
export * as tracing from "@stagecraft/framework/observe/tracing";
export * as mail from "@stagecraft/framework/mail";
export * as mailJobs from "@stagecraft/framework/mail/jobs";
export * as mailPreviews from "@stagecraft/framework/mail/previews";
export * as pages from "@stagecraft/framework/pages";
export * as testing from "@stagecraft/framework/testing";
export * as contracts from "@stagecraft/framework/testing/contracts";
