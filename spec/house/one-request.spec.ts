/**
 * The files of the library whose functions run for one warm `GET` of a bare application, counted by V8, against the list in
 * docs/how-a-request-travels.md. Fewer files make a request easier to follow, so their number has a limit.
 */
import { expect } from "chai";
import { SourceMap, type SourceMapPayload, type SourceMapping } from "node:module";
import { dirname, join } from "node:path";
import { runProgram } from "../support/program.js";
import { textOf } from "../support/sources.js";

const PAGE = "docs/how-a-request-travels.md";
const MAX_FILES = 17;

/** Where a function begins in a script. */
interface Function {
  readonly file: string;
  readonly offset: number;
}

/** Serves some requests on one connection, and counts the functions that run for one more. */
const PROGRAM = `
import { once } from "node:events";
import { Session } from "node:inspector/promises";
import { connect, createServer } from "node:net";
const { Application, Route, Routes } = await load("entries/main.js");
const listener = createServer().listen(0, "127.0.0.1");
await once(listener, "listening");
await Application.create().routes(new Routes([Route.get("/", () => "hello")])).build().serve(listener);
const socket = connect(listener.address().port, "127.0.0.1").setEncoding("latin1");
const ask = async () => {
  socket.write("GET / HTTP/1.1\\r\\nHost: shop\\r\\n\\r\\n");
  const [response] = await once(socket, "data");
  if (!/^HTTP\\/1.1 200 [^]*hello$/.test(response)) throw new Error(response);
  await new Promise(setImmediate);
};
for (let warm = 0; warm < 5; warm++) await ask();
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await ask();
const { result } = await session.post("Profiler.takePreciseCoverage");
const ran = result.flatMap(({ url, functions }) => {
  const file = /\\/(dist\\/lib\\/.*\\.js)$/.exec(url)?.[1];
  const counted = file === undefined ? [] : functions.filter(({ ranges: [{ count }] }) => count > 0);
  return counted.map(({ ranges: [{ startOffset: offset }] }) => ({ file, offset }));
});
console.log(JSON.stringify(ran));
process.exit();
`;

/** The file names in the table of the page, row by row. */
function filesOfPage(): readonly string[] {
  return [...(textOf(PAGE) ?? "").matchAll(/^\| `(lib\/[^`]+)` /gm)].map(([, file = ""]) => file);
}

/** The source of a function, as the map of its script names it. */
function findSource({ file, offset }: Function): readonly string[] {
  const before = (textOf(file) ?? "").slice(0, offset).split("\n");
  // tsc or the bundler has written it.
  const map = new SourceMap(JSON.parse(textOf(`${file}.map`) ?? "{}") as SourceMapPayload);
  const { originalSource } = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0) as Partial<SourceMapping>;
  return originalSource === undefined ? [] : [join(dirname(file), originalSource)];
}

describe("one warm request of a bare application", () => {
  let files: readonly string[] = [];

  before(async () => {
    const { stdout, stderr } = await runProgram(PROGRAM);
    expect(stderr.split("\n").filter((line) => line.includes("Error"))).to.deep.equal([]);
    // The program prints a list of functions.
    const ran = JSON.parse(stdout) as readonly Function[];
    files = [...new Set(ran.flatMap(findSource))];
  });

  it(`runs functions of at most ${MAX_FILES} files`, () => {
    expect(files, files.join("\n")).to.have.property("length").within(1, MAX_FILES);
  });

  it(`runs the files that ${PAGE} names, and no other`, () => {
    expect(filesOfPage().toSorted()).to.deep.equal(files.toSorted());
  });
});
