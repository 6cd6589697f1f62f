import { event } from "@stagecraft/framework";
import type { Link } from "./link-store.js";

/** A link is gone, and what belongs to it must go too. */
export const linkRemoved = event<Link>("link.removed");
