import { z } from "zod";

export const BLANK = "can't be blank";

/** A text that both databases keep as it is: PostgreSQL refuses U+0000, and SQLite reads a text up to it. */
export const plainText = () => z.string(BLANK).refine((text) => !text.includes("\0"), "has a NUL character");
