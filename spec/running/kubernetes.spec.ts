/** The page "Kubernetes": its files fit the schemas of the API, and the container of each runs in the image of a project. */
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { Container } from "../support/container.js";
import { freePort } from "../support/free-port.js";
import { guideFile, parsedYaml } from "../support/guide-files.js";
import type { Image } from "../support/image.js";
import { findFaults } from "../support/kubernetes-schemas.js";
import { needs } from "../support/machine.js";
import { MailServer } from "../support/mail-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { buildProject, SHOP } from "../support/project-image.js";
import { canMount } from "../support/small-disk.js";
import { textOf } from "../support/sources.js";
import { until } from "../support/until.js";

const PAGE = "kubernetes.md";
const PODS = ["deployment.yaml", "jobs.yaml", "migrate.yaml"] as const;
const FILES = [...PODS, "service.yaml", "disruption-budget.yaml"] as const;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

/** The members that the specs read. */
interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly [
    {
      readonly image: string;
      readonly command?: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
      readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
      readonly volumeMounts: readonly { readonly mountPath: string }[];
      readonly startupProbe?: Probe;
      readonly readinessProbe?: Probe;
      readonly livenessProbe?: Probe;
    },
  ];
}

const parsed = (name: string) => parsedYaml(guideFile(PAGE, name));

function podOf(name: (typeof PODS)[number]): PodSpec {
  // The schemas check it.
  return (parsed(name) as { readonly spec: { readonly template: { readonly spec: PodSpec } } }).spec.template.spec;
}

describe("the files for Kubernetes", () => {
  for (const name of FILES)
    it(`fit the schemas of its API: ${name}`, () => {
      expect(findFaults(parsed(name))).to.deep.equal([]);
    });

  it("would not fit with an unknown member, a missing one, or a wrong type", () => {
    const service = parsed("service.yaml");
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", spec: { minimum: 1 } };
    const job = { apiVersion: "batch/v1", kind: "Job", spec: { backoffLimit: "none" } };

    expect(findFaults({ ...service, specs: {} }).join("\n")).to.include('"additionalProperty":"specs"');
    expect(findFaults(budget).join("\n")).to.include('"additionalProperty":"minimum"');
    expect(findFaults(job).join("\n"))
      .to.include('"missingProperty":"template"')
      .and.include("/spec/backoffLimit must be integer");
  });

  it("name each other's labels, ports and image", () => {
    const labels = { app: "shop" };
    const deployment = parsed("deployment.yaml");

    expect(deployment).to.have.deep.nested.property("spec.selector.matchLabels", labels);
    expect(deployment).to.have.deep.nested.property("spec.template.metadata.labels", labels);
    expect(parsed("service.yaml")).to.have.deep.nested.property("spec.selector", labels);
    expect(parsed("service.yaml")).to.have.deep.nested.property("spec.ports[0].targetPort", "http");
    expect(parsed("disruption-budget.yaml")).to.have.deep.nested.property("spec.selector.matchLabels", labels);
    expect(new Set(PODS.map((name) => podOf(name).containers[0].image)).size).to.equal(1);
  });

  it("wait for the time of a stop, and name the files in the lines of a deploy", () => {
    const page = textOf(`docs/guide/${PAGE}`) ?? "";
    const applied = [...page.matchAll(/-f (\S+)/g)].map(([, name]) => name);

    for (const name of ["deployment.yaml", "jobs.yaml"] as const)
      expect(podOf(name), name).to.have.property("terminationGracePeriodSeconds", 40);
    expect(applied).to.have.members(FILES);
    expect(page).to.include(`job/${String(Object(Object(parsed("migrate.yaml")).metadata).name)}\n`);
  });
});

if (canMount())
  describe("the containers of the files for Kubernetes", function () {
    this.timeout(120_000);
    this.slow(30_000);
    before(needs("postgres"));
    let image: Image;
    let server: PostgresServer;
    let mails: MailServer;
    let port: number;

    before(async () => {
      [image, server, mails, port] = await Promise.all([
        buildProject(SHOP),
        PostgresServer.borrow(),
        MailServer.start(),
        freePort(),
      ]);
    });

    after(async () => {
      image[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      await mails[Symbol.asyncDispose]();
    });

    const key = randomBytes(64).toString("hex");

    function start(name: (typeof PODS)[number]): Container {
      const [{ command = image.config.command, env, volumeMounts }] = podOf(name).containers;
      const secrets = {
        APP_KEY: key,
        DATABASE_URL: server.url,
        SMTP_URL: `smtp+plain://127.0.0.1:${mails.port}`,
        PORT: String(port),
      };
      const variables = Object.fromEntries(env.map((each) => [each.name, each.value]));
      const tmpfs = volumeMounts.map(({ mountPath }) => mountPath);
      return new Container(image, { command, env: { ...variables, ...secrets }, tmpfs });
    }

    const statusOf = async (probe: Probe | undefined) =>
      (await fetch(`http://127.0.0.1:${port}${String(probe?.httpGet.path)}`)).status;

    it("migrate", async () => {
      await using migrate = start("migrate.yaml");

      expect(await migrate.end()).to.include({ code: 0 });
    });

    it("serve, and are no longer ready but alive while they drain", async () => {
      const [{ ports, startupProbe, readinessProbe, livenessProbe }] = podOf("deployment.yaml").containers;
      await using web = start("deployment.yaml");
      await web.serves(`http://127.0.0.1:${port}${String(startupProbe?.httpGet.path)}`);
      const before = [await statusOf(readinessProbe), await statusOf(livenessProbe)];
      web.kill("SIGTERM");
      await until(async () => (await statusOf(readinessProbe)) === 503);

      expect(ports).to.deep.equal([{ name: "http", containerPort: image.config.port }]);
      expect(before).to.deep.equal([200, 200]);
      expect(await statusOf(livenessProbe)).to.equal(200);
      expect(await web.end()).to.include({ code: 0 });
    });

    it("work jobs", async () => {
      await using jobs = start("jobs.yaml");
      await until(() => jobs.output.includes("works all queues"));
      jobs.kill("SIGTERM");

      expect(await jobs.end()).to.include({ code: 0 });
    });
  });
