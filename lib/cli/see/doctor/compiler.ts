/** Whether the compiler is set up so that decorators and constructor parameters reach the framework. */
import { existsSync } from "node:fs";
import { isTypeScript, readTypeScriptConfig } from "../../application/typescript-config.js";
import type { ApplicationFile } from "../../application/find-application.js";
import type { Finding } from "./finding.js";

const check = "compiler";

export function checkCompiler({ source, name }: Pick<ApplicationFile, "source" | "name">): readonly Finding[] {
  if (!isTypeScript(source)) return [{ level: "ok", check, what: `${name} is JavaScript` }];
  const config = readTypeScriptConfig(source);
  // A release has no sources.
  if (config === undefined && !existsSync(source)) return [{ level: "ok", check, what: `${name} is compiled` }];
  if (config === undefined)
    return [{ level: "fail", check, what: "there is no tsconfig.json", fix: "add one with rootDir and outDir" }];
  const { experimentalDecorators, emitDecoratorMetadata, isolatedModules, verbatimModuleSyntax } = config.options;
  const findings: Finding[] = [];
  if (experimentalDecorators === true && emitDecoratorMetadata !== true)
    findings.push({
      level: "warn",
      check,
      what: "decorators have no metadata, so that constructor parameters have no type at run time",
      fix: 'set "emitDecoratorMetadata": true, or take every dependency by inject(…)',
    });
  if (isolatedModules !== true && verbatimModuleSyntax !== true)
    findings.push({
      level: "warn",
      check,
      what: "a file may need another one to be compiled, which a fast compiler cannot do",
      fix: 'set "isolatedModules": true',
    });
  return findings.length > 0
    ? findings
    : [{ level: "ok", check, what: "tsconfig.json keeps decorators and their metadata" }];
}
