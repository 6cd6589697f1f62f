import { StartupError, type Diagnostic } from "@stagecraft/framework";

/** The check for the value of a variable, or for an entry of its list. */
export interface Rule {
  readonly name: string;
  readonly holds: (text: string) => boolean;
  readonly fix: string;
}

/** Reads variables of the environment and collects their faults, so that one start shows all. */
export class Variables {
  private readonly faults: Diagnostic[] = [];

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** A blank variable counts as unset. */
  text(name: string, rule?: Rule): string | undefined {
    const text = this.environment[name]?.trim() ?? "";
    if (text === "") return undefined;
    if (rule !== undefined) this.check(name, text, rule);
    return text;
  }

  /** The entries between the commas, trimmed. */
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

  /** Throws the collected faults, if there are any. */
  refuseFaults(): void {
    if (this.faults.length > 0) throw new StartupError(this.faults);
  }

  private check(name: string, text: string, rule: Rule): void {
    if (rule.holds(text)) return;
    const what = `${shown(text)} is no ${rule.name}`;
    this.faults.push({ code: "LINKS_SETTING", what, where: name, fix: rule.fix });
  }
}

/** The text before an @ or after a ? may be a secret. */
function shown(text: string): string {
  return /[@?]/.test(text) ? "the value (withheld)" : JSON.stringify(text);
}
