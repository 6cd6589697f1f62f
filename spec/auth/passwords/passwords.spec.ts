import { execFile } from "node:child_process";
import { inspect, promisify } from "node:util";
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { MAX_PASSWORD_BYTES, Passwords, type PasswordsOptions } from "@stagecraft/framework/auth";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import * as fc from "fast-check";
import { inWorkScope } from "../../../lib/lifecycle/work-scope.js";
import { Gate } from "../../support/gate.js";
import { needs } from "../../support/machine.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { account, startAccounts } from "../account-application.js";

const CHEAP = { scrypt: { logN: 4, blockSize: 8, parallelism: 1 } };
const passwords = new Passwords(CHEAP);
const narrow = (options: PasswordsOptions): Passwords => new Passwords({ ...CHEAP, concurrency: 1, ...options });
const SECRET = "correct horse 4711";
const PASSWORD = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\0"));

describe("a password hash", () => {
  it("is that of its password, and of no other one", async () => {
    const hash = await passwords.hash(SECRET);

    expect(await passwords.verify(SECRET, hash)).to.equal(true);
    for (const other of ["correct horse 4712", "Correct horse 4711", `${SECRET} `, ` ${SECRET}`, `${SECRET}\0`, "x"])
      expect(await passwords.verify(other, hash), other).to.equal(false);
    expect(await passwords.hash(SECRET)).to.not.equal(hash);
  });

  it("is right for every text that may be a password", async () => {
    await fc.assert(
      fc.asyncProperty(PASSWORD, PASSWORD, async (text, other) => {
        const hash = await passwords.hash(text);
        expect(await passwords.verify(text, hash)).to.equal(true);
        expect(await passwords.verify(other, hash)).to.equal(other.normalize("NFKC") === text.normalize("NFKC"));
      }),
    );
  });

  it("has the costs of OWASP in a PHC text unless set", async () => {
    const strong = new Passwords();
    const hash = await strong.hash(SECRET);

    expect(hash).to.match(/^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await strong.verify(SECRET, hash)).to.equal(true);
    expect(strong.needsRehash(hash)).to.equal(false);
    expect(await passwords.hash(SECRET)).to.match(/^\$scrypt\$ln=4,r=8,p=1\$/);
  });

  it("is the same for each Unicode form of a password", async () => {
    const forms: readonly (readonly [string, string])[] = [
      ["Ångström-ﬁ", "A\u030Angstro\u0308m-fi"],
      ["パスワード", "ﾊﾟｽﾜｰﾄﾞ"],
      ["pass\u00A0word", "pass word"],
    ];
    for (const [one, other] of forms)
      expect(await passwords.verify(other, await passwords.hash(one)), one).to.equal(true);
  });

  it("does not exist for an empty, a too long and a broken password", async () => {
    const refused = [
      "",
      "a".repeat(1025),
      "ä".repeat(513),
      "\uFDFA".repeat(32),
      "a".repeat(100_000),
      "a\uD800",
      "a\0",
      undefined,
      7,
    ];
    const hash = await passwords.hash("a".repeat(MAX_PASSWORD_BYTES));
    for (const password of refused) {
      const error = await rejectionOf(passwords.hash(password as string));
      expect(error).to.include({
        code: "E_PASSWORD",
        status: 400,
        message: "A password is a text of 1 to 1024 bytes.",
      });
      expect(await passwords.verify(password as string, hash)).to.equal(false);
    }
    expect(await passwords.verify("a".repeat(MAX_PASSWORD_BYTES), hash)).to.equal(true);
  });
});

/** Of RFC 7914 section 12, and of Passlib's documentation. */
const VECTORS: readonly (readonly [password: string, hash: string])[] = [
  [
    "password",
    phc(
      "ln=10,r=8,p=16",
      "NaCl",
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640",
    ),
  ],
  [
    "pleaseletmein",
    phc(
      "ln=14,r=8,p=1",
      "SodiumChloride",
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887",
    ),
  ],
  ["password", "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E"],
];

function phc(costs: string, salt: string, hex: string): string {
  const [saltText, hashText] = [Buffer.from(salt), Buffer.from(hex, "hex")].map((bytes) =>
    bytes.toString("base64").replace(/=+$/, ""),
  );
  return `$scrypt$${costs}$${saltText}$${hashText}`;
}

describe("the hash of another program", () => {
  for (const [password, hash] of VECTORS)
    it(`is verified: ${hash.slice(0, 30)}`, async () => {
      expect(await passwords.verify(password, hash)).to.equal(true);
      expect(await passwords.verify(`${password}x`, hash)).to.equal(false);
      expect(passwords.needsRehash(hash)).to.equal(true);
    });

  it("is that which Python computes, in both directions", async function () {
    needs("python3").call(this);
    const hash = await new Passwords({ scrypt: { logN: 12, blockSize: 8, parallelism: 2 } }).hash("pässword");
    const [, , , salt = "", expected = ""] = hash.split("$");
    const program =
      "import hashlib, base64, sys; p, s = sys.argv[1:];" +
      "k = hashlib.scrypt(p.encode(), salt=base64.b64decode(s + '=='), n=4096, r=8, p=2, dklen=32, maxmem=2**26);" +
      "print(base64.b64encode(k).decode().rstrip('='))";

    const { stdout } = await promisify(execFile)("python3", ["-c", program, "pässword", salt]);

    expect(stdout.trim()).to.equal(expected);
    expect(await passwords.verify("pässword", hash)).to.equal(true);
  });
});

describe("a text that is no hash", () => {
  const good = "$scrypt$ln=4,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E";
  const others: readonly string[] = [
    "",
    "!",
    "secret",
    "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
    good.replace("$scrypt$", "$SCRYPT$"),
    good.replace("ln=4", "ln=04"),
    good.replace("ln=4", "ln=+4"),
    good.replace("ln=4", "ln=4.0"),
    good.replace("ln=4,r=8", "r=8,ln=4"),
    good.replace(",p=1", ""),
    good.replace("p=1", "p=1,x=1"),
    good.replace("aM15713r3Xsvxbi31lqr1Q", ""),
    good.replace("lqr1Q$", "lqr1R$"),
    good.replace("iCs5E", "iCs5F"),
    `${good}=`,
    `${good}$`,
    `${good}\n`,
    `${good}${"A".repeat(100_000)}`,
    good.replace("aM15713r3Xsvxbi31lqr1Q", "A".repeat(1_000_000)),
    good.replace("aM15713r3Xsvxbi31lqr1Q", "A".repeat(88)),
    good.replace("nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E", "AAAA"),
  ];
  /** Costs that would take the memory or the time of the process. */
  const hostile = [
    "ln=40,r=8,p=1",
    "ln=20,r=8,p=1",
    "ln=18,r=9,p=1",
    "ln=10,r=99999999,p=1",
    "ln=17,r=8,p=16",
    "ln=4,r=8,p=999999999",
    "ln=1,r=1,p=17",
    "ln=0,r=8,p=1",
    "ln=4,r=0,p=1",
    "ln=30,r=1,p=1",
    "ln=-4,r=8,p=1",
    "ln=4,r=-8,p=1",
    "ln=1e1,r=8,p=1",
    "ln=0x10,r=8,p=1",
    "ln=٤,r=8,p=1",
    "ln=1073741824,r=8,p=1",
  ].map((costs) => good.replace("ln=4,r=8,p=1", costs));

  for (const text of [...others, ...hostile])
    it(`is false, and needs a hash: ${JSON.stringify(text.slice(0, 60))}`, async () => {
      expect(await passwords.verify("password", text)).to.equal(false);
      expect(passwords.needsRehash(text)).to.equal(true);
    });

  it("is false for each text and each value", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `$scrypt$${text}`),
        ),
        async (text) => {
          expect(await passwords.verify("password", text)).to.equal(false);
        },
      ),
    );
    for (const value of [undefined, null, 7, {}, []])
      expect(await passwords.verify("password", value as string)).to.equal(false);
  });

  it("costs as much work as a wrong password, so that the time does not tell which users exist", async function () {
    this.timeout(60_000);
    const costly = new Passwords({ scrypt: { logN: 11, blockSize: 8, parallelism: 1 } });
    const hash = await costly.hash(SECRET);
    const times = new Map<string | undefined, number[]>();
    for (let round = 0; round < 60; round += 1)
      for (const stored of [hash, undefined, "!"]) {
        const start = performance.now();
        await costly.verify("wrong", stored);
        times.set(stored, [...(times.get(stored) ?? []), performance.now() - start]);
      }

    const median = (stored: string | undefined): number =>
      (times.get(stored) ?? []).toSorted((one, other) => one - other)[30] ?? NaN;
    for (const stored of [undefined, "!"]) expect(median(stored) / median(hash), String(stored)).to.be.within(0.6, 1.6);
  });
});

describe("argon2id", () => {
  const argon2id = { memoryKib: 32, passes: 2, parallelism: 1 };
  const modern = new Passwords({ ...CHEAP, algorithm: "argon2id", argon2id });

  it("hashes in a PHC text, with the costs of OWASP unless set", async () => {
    const hash = await modern.hash(SECRET);

    expect(hash).to.match(/^\$argon2id\$v=19\$m=32,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect([await modern.verify(SECRET, hash), await modern.verify("x", hash)]).to.deep.equal([true, false]);
    expect(await new Passwords({ algorithm: "argon2id" }).hash(SECRET)).to.match(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
    );
  });

  // The vectors of the reference implementation.
  for (const hash of [
    "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
    "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
  ])
    it(`of another program is verified: ${hash.slice(0, 32)}`, async () => {
      expect(await passwords.verify("password", hash)).to.equal(true);
      expect(await passwords.verify("passwore", hash)).to.equal(false);
    });

  it("and scrypt are both verified, and the other one needs a new hash", async () => {
    const [old, fresh] = [await passwords.hash(SECRET), await modern.hash(SECRET)];

    expect(await Promise.all([modern.verify(SECRET, old), passwords.verify(SECRET, fresh)])).to.deep.equal([
      true,
      true,
    ]);
    expect([modern.needsRehash(old), modern.needsRehash(fresh)]).to.deep.equal([true, false]);
    expect([passwords.needsRehash(old), passwords.needsRehash(fresh)]).to.deep.equal([false, true]);
  });

  for (const costs of [
    "m=262145,t=1,p=1",
    "m=65536,t=17,p=1",
    "m=4294967295,t=1,p=1",
    "m=999999999,t=1,p=1",
    "m=8,t=1,p=2",
    "m=32,t=999999999,p=1",
    "m=256,t=1,p=17",
    "t=2,m=32,p=1",
  ])
    it(`with other costs is no hash: ${costs}`, async () => {
      const text = `$argon2id$v=19$${costs}$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4`;
      expect(await modern.verify("password", text)).to.equal(false);
      expect(modern.needsRehash(text)).to.equal(true);
    });

  it("of another version, kind or length is no hash", async () => {
    const good = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    for (const text of [
      good.replace("v=19", "v=16"),
      good.replace("argon2id", "argon2i"),
      good.replace("c29tZXNhbHQ", "c29tZXNh"),
      good.replace("$c29", ",keyid=aa$c29"),
    ])
      expect(await modern.verify("password", text), text).to.equal(false);
  });
});

describe("Passwords.needsRehash", () => {
  it("is true where the costs of the text are not those of the instance", async () => {
    const hash = await passwords.hash(SECRET);

    expect(passwords.needsRehash(hash)).to.equal(false);
    for (const scrypt of [
      { logN: 5, blockSize: 8, parallelism: 1 },
      { logN: 3, blockSize: 8, parallelism: 1 },
      { logN: 4, blockSize: 8, parallelism: 2 },
    ])
      expect(new Passwords({ scrypt }).needsRehash(hash)).to.equal(true);
    // Short salts and hashes of other programs.
    expect(passwords.needsRehash("$scrypt$ln=4,r=8,p=1$TmFDbA$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E")).to.equal(
      true,
    );
  });
});

/** Whether a hash is accepted: a refused one rejects at once. */
async function isQueued(one: Passwords, signal: AbortSignal): Promise<boolean> {
  let isRefused = false;
  one.hash(SECRET, { signal }).catch(() => (isRefused = true));
  await new Promise((resolve) => setImmediate(resolve));
  return !isRefused;
}

describe("many hashes at once", () => {
  it("wait for the one that runs, and are all right", async () => {
    const one = narrow({ queue: 20 });
    const texts = Array.from({ length: 20 }, (_, index) => `password ${index}`);

    const hashes = await Promise.all(texts.map((text) => one.hash(text)));

    const verified = await Promise.all(hashes.map((hash, index) => one.verify(texts[index] ?? "", hash)));
    expect(verified).to.deep.equal(texts.map(() => true));
  });

  it("are a 503 with Retry-After beyond the queue, and the queue is free again after that", async () => {
    const one = narrow({ queue: 1 });
    const [running, waiting] = [one.hash(SECRET), one.verify(SECRET, undefined)];

    const error = await rejectionOf(one.hash(SECRET));

    expect(error)
      .to.include({ code: "E_PASSWORD_QUEUE", status: 503 })
      .and.deep.include({ headers: { "Retry-After": "1" } });
    expect(await running).to.match(/^\$scrypt\$/);
    expect(await waiting).to.equal(false);
    expect(await one.verify(SECRET, await one.hash(SECRET))).to.equal(true);
  });

  it("refuse a flood of sign-ins with 503, and let other requests pass", async () => {
    const one = new Passwords({ scrypt: { logN: 12, blockSize: 8, parallelism: 1 }, concurrency: 1, queue: 2 });
    const routes = new Routes([
      Route.post("/sign-in", async (ctx: Context) => String(await one.verify(await ctx.text(), undefined))),
      Route.get("/", () => "hello"),
    ]);
    await using app = await testApp(Application.create().routes(routes));

    const flood = Array.from({ length: 30 }, () => app.post("/sign-in", { body: SECRET }));
    const hello = await app.get("/");
    const responses = await Promise.all(flood);

    const refused = responses.filter(({ status }) => status === 503);
    expect(hello.status).to.equal(200);
    expect(refused).to.have.length.above(0);
    for (const { headers } of refused) expect(headers.get("retry-after")).to.equal("1");
    for (const response of refused) expect(await response.text()).to.not.include(SECRET);
    expect(responses.filter(({ status }) => status === 200))
      .to.have.length(30 - refused.length)
      .and.above(0);
  });

  it("take no slot for a password that no hash can have", async () => {
    const one = narrow({ queue: 0 });
    const running = one.hash(SECRET);

    expect(await one.verify("a".repeat(100_000), undefined)).to.equal(false);
    expect(await one.verify("", await running)).to.equal(false);
  });

  it("leave the queue with the request that asked for them", async () => {
    const one = narrow({ queue: 1 });
    const running = one.hash(SECRET);
    const [given, scope] = [new AbortController(), new AbortController()];
    const first = one.hash(SECRET, { signal: given.signal });
    given.abort(new Error("the client left"));
    const second = inWorkScope({ signal: scope.signal }, () => one.verify(SECRET, undefined), undefined);
    scope.abort(new Error("the request ended"));

    expect(await rejectionOf(first)).to.have.property("message", "the client left");
    expect(await rejectionOf(second)).to.have.property("message", "the request ended");
    expect(await rejectionOf(one.hash(SECRET, { signal: given.signal }))).to.have.property(
      "message",
      "the client left",
    );
    const third = one.hash(SECRET);
    expect(await Promise.all([running, third])).to.have.length(2);
  });

  it("leave the queue when a client of the sign-in leaves", async () => {
    const entered = new Gate();
    class Watched extends Passwords {
      override verify(...args: Parameters<Passwords["verify"]>): Promise<boolean> {
        const verified = super.verify(...args);
        entered.open();
        return verified;
      }
    }
    // It takes a second, which is long before and after the client leaves.
    const one = new Watched({ scrypt: { logN: 17, blockSize: 8, parallelism: 4 }, concurrency: 1, queue: 1 });
    await using app = await startAccounts({ bindings: [provide(Passwords).useValue(one)] });
    let hasEnded = false;
    const running = one.hash(SECRET).then(() => (hasEnded = true));
    const client = new AbortController();
    const request = fetch(app.url + account.signIn.url(), {
      method: "POST",
      body: JSON.stringify({ email: "ada@shop.example", password: SECRET }),
      headers: { "content-type": "application/json" },
      signal: client.signal,
    }).catch(() => undefined);
    await entered.passed;
    expect(await rejectionOf(one.hash(SECRET))).to.have.property("code", "E_PASSWORD_QUEUE");

    client.abort();
    await request;
    const waiting = new AbortController();
    await until(() => isQueued(one, waiting.signal));

    expect(hasEnded).to.equal(false);
    waiting.abort(new Error("the end of the test"));
    await running;
  });

  it("show no password to an inspection", async () => {
    const one = narrow({});
    const work = [one.hash(SECRET), one.hash(SECRET), one.verify(SECRET, undefined)];
    const shown = inspect(one, { depth: Infinity, showHidden: true }) + JSON.stringify(one) + inspect(work);

    expect(shown).to.not.include("correct horse");
    expect(shown).to.not.include(
      Buffer.from("correct")
        .toString("hex")
        .replaceAll(/(..)(?=.)/g, "$1 "),
    );
    await Promise.all(work);
  });
});

describe("new Passwords", () => {
  it("refuses costs beyond the limits and wrong numbers", () => {
    const cost = { logN: 17, blockSize: 8, parallelism: 1 };
    const wrong: readonly PasswordsOptions[] = [
      { scrypt: { ...cost, logN: 21 } },
      { scrypt: { ...cost, logN: 0 } },
      { scrypt: { ...cost, logN: 16.5 } },
      { scrypt: { ...cost, blockSize: 64 } },
      { scrypt: { ...cost, parallelism: 8 } },
      { algorithm: "argon2id", argon2id: { memoryKib: 7, passes: 2, parallelism: 1 } },
      { algorithm: "bcrypt" as "scrypt" },
      { concurrency: 0 },
      { concurrency: 129 },
      { queue: -1 },
      { queue: Infinity },
    ];
    for (const options of wrong)
      expect(() => new Passwords(options), inspect(options))
        .to.throw()
        .with.property("code", "E_PASSWORD_OPTION");
    expect(() => new Passwords({ cost: 12 } as PasswordsOptions)).to.throw("is not an option");
  });
});
