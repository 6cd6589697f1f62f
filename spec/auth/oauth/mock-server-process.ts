/** The provider `oauth2-mock-server` as a process, which a spec kills. */
import { OAuth2Server } from "oauth2-mock-server";

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
server.service.on("beforeTokenSigning", ({ payload }: { payload: Record<string, unknown> }) => {
  Object.assign(payload, { email: "ada@shop.example", email_verified: true });
});
await server.start(Number(process.env["PORT"]), "127.0.0.1");
server.issuer.url = `http://127.0.0.1:${process.env["PORT"] ?? ""}`;
console.log("started");
