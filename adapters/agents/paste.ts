import type { AgentSetup } from './setup.ts'

/** Ends the text of the file; a line of a configuration never consists of it. */
const endOfFile = 'END_OF_FILE'

/** Commands for a POSIX shell. */
export function pasteOf({ environment, file }: Pick<AgentSetup, 'environment' | 'file'>): string {
  const lines: string[] = []
  if (file !== undefined) {
    const folder = file.path.slice(0, file.path.lastIndexOf('/'))
    lines.push(`mkdir -p ~/${folder}`, `cat > ~/${file.path} <<'${endOfFile}'`, file.text.trimEnd(), endOfFile)
  }
  for (const [name, value] of Object.entries(environment)) lines.push(`export ${name}=${quoted(value)}`)
  return `${lines.join('\n')}\n`
}

function quoted(value: string): string {
  const home = /^~\/[\w./-]+$/.test(value)
  return home ? value : `'${value.replaceAll("'", `'\\''`)}'`
}
