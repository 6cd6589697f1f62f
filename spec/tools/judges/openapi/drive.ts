/** Signs up, writes an article and finds it, by the client that @hey-api/openapi-ts has generated. */
import { client } from "./generated/hey/client.gen.js";
import { articlesCreate, articlesIndex, usersRegister } from "./generated/hey/sdk.gen.js";

client.setConfig({ baseUrl: process.argv[2] ?? "" });
const user = { username: "ada", email: "ada@example.org", password: "correct horse" };
const registered = await usersRegister({ body: { user }, throwOnError: true });
client.setConfig({ headers: { Authorization: `Token ${registered.data.user.token}` } });

const article = { title: "A title", description: "about", body: "text" };
const { data, error, response } = await articlesCreate({ body: { article } });
if (data === undefined) throw new Error(`${response?.status}: ${JSON.stringify(error?.errors)}`);
const found = await articlesIndex({ query: { author: "ada", limit: 1 }, throwOnError: true });
console.log(...found.data.articles.map(({ author, slug }) => `${author.username} wrote ${slug}`));
