/** The compile-time checks of the test kit. Compiled, never run. */
import { double } from "../../lib/testing/double.js";
import type { TestClient } from "../../lib/testing/test-client.js";

interface Link {
  readonly slug: string;
}

export async function typesTheJsonOfAResponse(client: TestClient): Promise<string> {
  const response = await client.get("/links/7");
  const { slug } = await response.json<Link>();
  // @ts-expect-error the value has the type that the test names
  await response.json<Link>().then(({ id }) => id);
  // @ts-expect-error without a type the value is unknown
  await response.json().then((link) => link.slug);
  return slug;
}

abstract class LinkStore {
  protected readonly rows = 0;
  abstract find(id: string): string | undefined;
  abstract remove(id: string): void;
}

double(LinkStore, { find: (id) => id.trim() }).value.remove("7");
// @ts-expect-error the result must fit
double(LinkStore, { find: () => 7 });
// @ts-expect-error the class has no such member
double(LinkStore, { fetch: () => "" });
