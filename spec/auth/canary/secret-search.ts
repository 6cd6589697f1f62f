/**
 * Searches texts for secrets: as they are, and in the forms in which programs write bytes. A text belongs to a channel, such as the log, and
 * a secret may stand in the channels that are named with it.
 *
 * @example
 * const search = new SecretSearch();
 * search.addSecret("the password", "correct horse battery");
 * search.addText("the log", line);
 * expect(search.find()).to.deep.equal([]);
 */
export interface SecretOptions {
  /** Channels in which the secret may stand, such as the mail of a link. */
  readonly except?: readonly string[];
}

interface Secret {
  readonly name: string;
  readonly forms: readonly string[];
  readonly except: readonly string[];
}

/** A shorter secret, such as a code of six digits, is found only where it stands alone. */
const MIN_LENGTH = 12;
/** An inspection shows the first bytes of a buffer alone. */
const SHOWN_BYTES = 16;

export class SecretSearch {
  private readonly secrets = new Map<string, Secret>();
  private readonly texts = new Map<string, Set<string>>();

  addSecret(name: string, value: string | Buffer, { except = [] }: SecretOptions = {}): void {
    const bytes = Buffer.from(value);
    if (bytes.length < 6) throw new RangeError(`${name} has ${bytes.length} bytes, and would be found everywhere`);
    const forms = [...new Set(listForms(value).map((form) => form.toLowerCase()))];
    this.secrets.set(bytes.toString("latin1"), { name, forms, except });
  }

  addText(channel: string, text: string): void {
    const texts = this.texts.get(channel) ?? new Set();
    this.texts.set(channel, texts.add(text.toLowerCase()));
  }

  /** The number of characters of each channel, so that a spec sees that a channel is not empty. */
  sizes(): ReadonlyMap<string, number> {
    return new Map([...this.texts].map(([channel, texts]) => [channel, [...texts].join("").length]));
  }

  /** The names of the secrets. */
  names(): readonly string[] {
    return [...this.secrets.values()].map(({ name }) => name);
  }

  /** `the password in the log: …around it…`, for each secret and each channel at most once. */
  find(): readonly string[] {
    return [...this.texts].flatMap(([channel, texts]) => {
      const text = [...texts].join("\n");
      return [...this.secrets.values()].flatMap(({ name, forms, except }) => {
        const at = except.includes(channel) ? -1 : findForm(text, forms);
        return at < 0 ? [] : [`${name} in ${channel}: …${text.slice(Math.max(0, at - 60), at + 60)}…`];
      });
    });
  }
}

function findForm(text: string, forms: readonly string[]): number {
  return forms.reduce((found, form) => (found >= 0 ? found : findOne(text, form)), -1);
}

function findOne(text: string, form: string): number {
  if (form.length >= MIN_LENGTH) return text.indexOf(form);
  // Such a form has letters and digits alone. A number of JSON, such as a duration, is no code.
  return text.search(new RegExp(`(?<![\\w.:-])${form}(?![\\w.-])`));
}

function listForms(value: string | Buffer): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const pairs = hex.match(/../g) ?? [];
  const first = bytes.subarray(0, SHOWN_BYTES);
  const bases = [0, 1, 2].map((shift) => toBase64(bytes, shift));
  const plain = typeof value === "string" ? [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)] : [];
  return [
    ...plain,
    hex,
    ...bases,
    ...bases.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    pairs.map((pair) => `%${pair}`).join(""),
    pairs.slice(0, SHOWN_BYTES).join(" "),
    [...first].join(", "),
    [...first].join(","),
  ];
}

/** Behind `shift` other bytes, without the characters that these and the bytes after it decide. */
function toBase64(bytes: Buffer, shift: number): string {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replaceAll("=", "");
  const isCut = (bytes.length + shift) % 3 !== 0;
  return whole.slice(shift === 0 ? 0 : shift + 1, isCut ? -1 : undefined);
}
