/**
 * Compiles one source to JavaScript without its types: oxc-transform, which keeps the metadata of decorators. It sees one file at a time,
 * so a type that is imported with `import type` is `Object` in the metadata, where `tsc` writes `Function` for a class.
 *
 * @example
 * const compiled = transform({ text, name: "src/app.ts" }, options);
 * if ("fault" in compiled) console.error(formatFault(compiled.fault));
 */
import type { OxcError, TransformOptions } from "oxc-transform";
import { requirePeer } from "../../errors/optional-package.js";
import { createHelpers } from "./emitted-helpers.js";
import type { TypeScriptConfig } from "./typescript-config.js";

const PEER = {
  entry: "The compiler of the command",
  name: "oxc-transform",
  from: "0.151.0",
  install: "--save-dev oxc-transform",
};

type Options = TypeScriptConfig["options"];

export interface SourceText {
  readonly text: string;
  /** For messages and for the map. */
  readonly name: string;
}

/** What the compiler did not understand, with the line of the source. Line and column begin at 1. */
export interface CompileFault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly text: string;
}

export interface Transformed {
  readonly code: string;
  /** The names of the members are those of the standard of source maps. */
  readonly map: object;
}

/** @throws FrameworkError `E_PEER_MISSING` without oxc-transform */
export function transform({ text, name }: SourceText, options: Options): Transformed | { fault: CompileFault } {
  // The type of the package itself.
  const { transformSync } = requirePeer(PEER) as typeof import("oxc-transform");
  const { code, map, errors, helpersUsed } = transformSync(name, text, toTransformOptions(name, options));
  const [error] = errors;
  if (error !== undefined) return { fault: toFault({ text, name }, error) };
  const helpers = createHelpers(Object.keys(helpersUsed));
  const { mappings = "", ...others } = map ?? {};
  // A semicolon is a line without a mapping.
  return { code: helpers + code, map: { ...others, mappings: ";".repeat(helpers.split("\n").length - 1) + mappings } };
}

/** The file, line and column, the line itself, and below its column a caret. */
export function formatFault({ file, line, column, message, text }: CompileFault): string {
  const margin = String(line);
  const before = text.slice(0, column - 1).replaceAll(/[^\t]/g, " ");
  return `${file}:${line}:${column} ${message}\n  ${margin} | ${text}\n  ${" ".repeat(margin.length)} | ${before}^`;
}

function toFault({ text, name }: SourceText, { message, labels }: OxcError): CompileFault {
  // The package counts bytes.
  const at = Buffer.from(text).toString("utf8", 0, labels[0]?.start ?? 0).length;
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  return {
    file: name,
    line: text.slice(0, at).split("\n").length,
    column: at - start + 1,
    message,
    text: text.slice(start, end === -1 ? undefined : end).trimEnd(),
  };
}

/** Each version of Node that the framework supports runs ES2022, so an older target changes only the fields of classes. */
function toTransformOptions(name: string, options: Options): TransformOptions {
  const { target = "es2022", useDefineForClassFields, jsx, jsxImportSource } = options;
  const isStandard = useDefineForClassFields ?? /^es(?:next|202[2-9]|20[3-9]\d)$/iu.test(String(target));
  return {
    lang: name.endsWith("x") ? "tsx" : "ts",
    sourceType: name.endsWith(".cts") ? "commonjs" : "module",
    target: "es2022",
    sourcemap: true,
    assumptions: { setPublicClassFields: isStandard !== true },
    typescript: {
      onlyRemoveTypeImports: options["verbatimModuleSyntax"] === true,
      removeClassFieldsWithoutInitializer: isStandard !== true,
    },
    decorator: { legacy: true, emitDecoratorMetadata: options["emitDecoratorMetadata"] === true },
    jsx: {
      runtime: jsx === "react" ? "classic" : "automatic",
      development: jsx === "react-jsxdev",
      ...(typeof jsxImportSource === "string" && { importSource: jsxImportSource }),
    },
    // A const enum of an ambient declaration, as the package has it.
    helpers: { mode: "External" as NonNullable<NonNullable<TransformOptions["helpers"]>["mode"]> },
  };
}
