/**
 * A self-signed certificate for `localhost`, which is its own authority, in files for a database server. Disposal removes them.
 *
 * @example
 * before(needs("openssl"));
 * certificate = await Certificate.for("postgres");
 */
import { execFileSync } from "node:child_process";
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { idsOf } from "./server-template.js";

const REQUEST = ["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
const NAME = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];

export class Certificate implements AsyncDisposable {
  private constructor(
    private readonly folder: string,
    private readonly user: string,
    /** In PEM. */
    readonly text: string,
  ) {}

  /** @param user the user of the server, who alone may read the key */
  static async for(user: string): Promise<Certificate> {
    const folder = await mkdtemp(join(tmpdir(), "framework-certificate-"));
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    execFileSync("openssl", [...REQUEST, ...NAME, "-keyout", key, "-out", certificate], { stdio: "ignore" });
    const created = new Certificate(folder, user, await readFile(certificate, "utf8"));
    await chmod(folder, 0o755);
    await created.own(key);
    return created;
  }

  get file(): string {
    return join(this.folder, "certificate.pem");
  }

  get keyFile(): string {
    return join(this.folder, "key.pem");
  }

  /** A file beside the certificate, which the user of the server owns. */
  async write(name: string, text: string): Promise<string> {
    const file = join(this.folder, name);
    await writeFile(file, text);
    await this.own(file);
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private async own(file: string): Promise<void> {
    await chmod(file, 0o600);
    const { uid, gid } = idsOf(this.user);
    if (uid !== undefined && gid !== undefined) await chown(file, uid, gid);
  }
}
