/**
 * `stagecraft completion bash|zsh|fish`: a script that completes the words of the command in a shell. The script asks the command with
 * `--line`, which reads the table and the list of the commands of the application, and loads no application.
 */
import { toOption, UsageError, type CommandContext, type CommandHandler, type CommandRow } from "../command.js";
import { GLOBAL_OPTIONS, readCommandList } from "../run/command-list.js";

interface Asked {
  readonly shell: string;
  readonly line: string | undefined;
}

/** The program of the project in this folder, else the one of the PATH. A shell gets the words as lines, and evaluates none of them. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# source <(npx stagecraft completion bash)
_stagecraft() {
  local program=./node_modules/.bin/stagecraft line=\${COMP_LINE:0:COMP_POINT} current before word
  [ -x "$program" ] || program=stagecraft
  current=\${line##* }
  # Bash breaks words at colons and equals signs, and replaces the last part.
  before=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("\${word#"$before"}"); done < <("$program" completion bash --line="$line" 2>/dev/null)
}
complete -o default -F _stagecraft stagecraft
`,
  zsh: `# source <(npx stagecraft completion zsh), after compinit
_stagecraft() {
  local program=./node_modules/.bin/stagecraft
  [[ -x $program ]] || program=stagecraft
  local -a found
  found=(\${(f)"$("$program" completion zsh --line="\${(j: :)words[1,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _stagecraft stagecraft
`,
  fish: `# npx stagecraft completion fish | source
function __stagecraft_words
  set -l program ./node_modules/.bin/stagecraft
  test -x $program; or set program stagecraft
  $program completion fish --line=(commandline -cp | string collect) 2>/dev/null
end
complete -c stagecraft -f -a '(__stagecraft_words)'
`,
};

/** The row of the command gives the table, which imports this file. */
export function complete(table: readonly CommandRow[]): CommandHandler<Asked> {
  return async ({ shell, line }, context) => {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined)
      throw new UsageError(`there is no script for ${JSON.stringify(shell)}`, {
        fix: "stagecraft completion bash, or zsh, or fish",
      });
    if (line === undefined) context.stdout.write(script);
    else for (const word of listWords(line, table, context)) context.stdout.write(`${word}\n`);
  };
}

/** @param line up to the cursor, the name of the program included */
function listWords(line: string, table: readonly CommandRow[], { cwd }: CommandContext): readonly string[] {
  const [, ...words] = line.trimStart().split(/\s+/);
  const current = words.pop() ?? "";
  const rows = [...table, ...readCommandList(cwd).map((each) => ({ ...each, hasJson: false }))];
  const row = rows.find(({ name }) => ` ${words.join(" ")} `.startsWith(` ${name} `));
  const candidates = row === undefined ? listNext(rows, words) : listOfRow(row, words, current);
  return [...new Set(candidates)].filter((word) => word.startsWith(current));
}

/** The next words of the names that start with these words: a name may have two. */
function listNext(rows: readonly Pick<CommandRow, "name">[], words: readonly string[]): readonly string[] {
  const names = rows.map(({ name }) => name.split(" "));
  const next = names.filter((name) => words.every((word, at) => name[at] === word)).map((name) => name[words.length]);
  return [...next.filter((word) => word !== undefined), ...GLOBAL_OPTIONS];
}

function listOfRow(row: Omit<CommandRow, "run">, words: readonly string[], current: string): readonly string[] {
  const parameters = Object.entries(row.parameters);
  const options = parameters.filter(([, { kind }]) => !kind.includes("argument"));
  const [option = "", inline] = current.split("=");
  const asked = inline === undefined ? words.at(-1) : option;
  const [, withValue] = options.find(([name, { kind }]) => toOption(name) === asked && kind !== "flag") ?? [];
  if (withValue !== undefined)
    return listValues(withValue).map((value) => (inline === undefined ? value : `${option}=${value}`));
  // The arguments of a command stand before its options.
  const position = words.length - row.name.split(" ").length;
  const [, argument] = parameters.filter(([, { kind }]) => kind.includes("argument"))[position] ?? [];
  const values = argument === undefined || current.startsWith("-") ? [] : listValues(argument);
  return [...values, ...options.map(([name]) => toOption(name)), ...(row.hasJson ? ["--json"] : []), ...GLOBAL_OPTIONS];
}

/** The values of a fixed set, which are in the placeholder. */
function listValues({ placeholder }: { readonly placeholder: string }): readonly string[] {
  return placeholder.includes("|") ? placeholder.split("|") : [];
}
