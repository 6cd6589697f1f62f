/** The compile-time checks of the test kit. Compiled, never run. */
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
