/** Compiled, never run: a client over the types of openapi-typescript. */
import createClient from "openapi-fetch";
import type { paths } from "./generated/types/schema.js";

const api = createClient<paths>({ baseUrl: "http://localhost" });
const { data } = await api.GET("/api/articles", { params: { query: { limit: 1 } } });
export const slugs: readonly string[] = (data?.articles ?? []).map(({ slug }) => slug);
// @ts-expect-error the limit is a number
await api.GET("/api/articles", { params: { query: { limit: "1" } } });
