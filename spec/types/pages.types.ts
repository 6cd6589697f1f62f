/** Compile-only: props that fit a contract, props that do not, and what the browser gets. Contracts by declaration merging are in the guide. */
import type { Context } from "../../lib/http/request/context.js";
import type { ClientProps, InputsOf, PropsOf } from "../../lib/stages/pages/contract.js";
import { contract, shape } from "../../lib/stages/pages/contract-shape.js";
import { page } from "../../lib/stages/pages/page.js";
import { Pages } from "../../lib/stages/pages/pages.js";
import { always, deferred, merge, once, optional, scroll } from "../../lib/stages/pages/props/prop.js";

interface Link {
  readonly slug: string;
  readonly createdAt: Date;
  readonly note: string | undefined;
}

interface Index {
  links: readonly Link[];
  total: number;
  clicks?: readonly number[];
  posts: { data: readonly Link[]; currentPage: number; nextPage?: number | null };
}

declare const links: readonly Link[];
declare const posts: Index["posts"];
const usual = { links, total: 1, posts };

/** Compiles if `T` is what `page()` takes. */
function takes<T>(..._given: readonly InputsOf<T>[]): void {}

// --- what the server gives -------------------------------------------------------------------------------------------------

takes<Index>(usual, { ...usual, clicks: [1] }, { ...usual, clicks: undefined });
takes<Index>(
  { ...usual, total: () => 1 },
  { ...usual, total: async ({ signal }: Context) => (signal.aborted ? 0 : 1) },
);
takes<Index>(
  { ...usual, total: Promise.resolve(1) },
  { ...usual, total: always(() => 1) },
  { ...usual, total: once(() => 1) },
);
takes<Index>({ ...usual, links: merge(() => links) }, { ...usual, posts: scroll(() => posts) });
takes<Index>({ ...usual, clicks: deferred(() => [1]) }, { ...usual, clicks: optional(async () => [1]) });
takes<Index>({
  ...usual,
  clicks: deferred(() => [1], { group: "slow", rescue: true })
    .once()
    .append(),
});
takes<{ any?: unknown }>({}, { any: 1 });

// @ts-expect-error -- a prop is missing
takes<Index>({ links, posts });
// @ts-expect-error -- no prop has this name
takes<Index>({ ...usual, totals: 1 });
// @ts-expect-error -- the wrong type
takes<Index>({ ...usual, total: "1" });
// @ts-expect-error -- a function of the wrong type
takes<Index>({ ...usual, total: () => "1" });
// @ts-expect-error -- the first response must have a member without ?
takes<Index>({ ...usual, total: deferred(() => 1) });
// @ts-expect-error -- neither may it be sent on request only
takes<Index>({ ...usual, total: optional(() => 1) });
// @ts-expect-error -- nor come from a function that makes such a prop
takes<Index>({ ...usual, total: () => deferred(() => 1) });
// @ts-expect-error -- JSON has no bigint
takes<{ id: bigint }>({ id: 1n });
// @ts-expect-error -- at any depth
takes<{ rows: readonly { id: bigint }[] }>({ rows: [{ id: 1n }] });
// @ts-expect-error -- a page of a list has `data`
scroll(() => ({ items: [], currentPage: 1 }));

// --- what the browser gets -------------------------------------------------------------------------------------------------

declare const client: ClientProps<Index>;
const createdAt: string | undefined = client.links[0]?.createdAt;
const note: string | undefined = client.links[0]?.note;
const clicks: readonly number[] | undefined = client.clicks;
// @ts-expect-error -- a date has become a text
const date: Date | undefined = client.links[0]?.createdAt;
// @ts-expect-error -- a deferred prop may be absent
const surely: readonly number[] = client.clicks;
// @ts-expect-error -- nothing is written on the client
client.total = 2;

// --- contracts that are values ---------------------------------------------------------------------------------------------

const index = contract("links/index", {
  links: shape.array(shape.object({ slug: shape.string, note: shape.nullable(shape.string) })),
  isOwn: shape.boolean,
  clicks: shape.optional(shape.array(shape.number)),
});
page(index, { links: [{ slug: "a", note: null }], isOwn: () => true });
page(index, { links: [], isOwn: true, clicks: deferred(() => [1]) }).status(200);
page(contract("about", {}));
// @ts-expect-error -- a member of an item is missing
page(index, { links: [{ slug: "a" }], isOwn: true });
// @ts-expect-error -- the first response must have it
page(index, { links: [], isOwn: deferred(() => true) });
// @ts-expect-error -- a component with props needs them
page(index);

declare const own: PropsOf<typeof index>;
const slug: string | undefined = own.links[0]?.slug;
const absent: readonly number[] | undefined = own.clicks;
const message: unknown = own.errors["slug"];

// --- without declared contracts --------------------------------------------------------------------------------------------

export const shared = new Pages({ share: { name: "Links", user: (ctx: Context) => ctx.ip } });
// @ts-expect-error -- a misspelt option
export const misspelt = new Pages({ shares: {} });

export { absent, clicks, date, createdAt, message, note, slug, surely };
