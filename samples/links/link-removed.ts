import { event } from "@stagecraft/framework";
import type { Link } from "./link-store.js";

/** A link was removed. Listeners remove the data that belongs to it. */
export const linkRemoved = event<Link>("link.removed");
