import { StartupError, type Diagnostic } from "@stagecraft/framework";

/** What the value of a variable, or an entry of its list, has to be. */
export interface Rule {
  readonly name: string;
  readonly holds: (text: string) => boolean;
  readonly fix: string;
}

/** Reads variables of the environment and keeps what is wrong with them, so that one start shows every fault. */
export class Variables {
  private readonly findings: Diagnostic[] = [];

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** A blank variable is one that nobody set. */
  text(name: string, rule?: Rule): string | undefined {
    const text = this.environment[name]?.trim() ?? "";
    if (text === "") return undefined;
    if (rule !== undefined) this.check(name, text, rule);
    return text;
  }

  /** The entries between the commas, without their blanks. */
  list(name: string, rule: Rule): readonly string[] | undefined {
    const entries = this.text(name)
      ?.split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "");
    for (const entry of entries ?? []) this.check(name, entry, rule);
    return entries;
  }

  number(name: string, rule: Rule): number | undefined {
    const text = this.text(name, rule);
    return text === undefined ? undefined : Number(text);
  }

  /** Throws what has been found so far, if anything. */
  refuseFaults(): void {
    if (this.findings.length > 0) throw new StartupError(this.findings);
  }

  private check(name: string, text: string, rule: Rule): void {
    if (rule.holds(text)) return;
    const what = `${shown(text)} is no ${rule.name}`;
    this.findings.push({ code: "LINKS_SETTING", what, where: name, fix: rule.fix });
  }
}

/** What stands before an @ or behind a ? may be a secret. */
function shown(text: string): string {
  return /[@?]/.test(text) ? "the value (withheld)" : JSON.stringify(text);
}
