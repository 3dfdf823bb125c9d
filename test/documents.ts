/** The readme and the guides beside the code, and what tests look for in them. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../', import.meta.url))

export interface Document {
  /** Such as `src/models/README.md`. */
  readonly path: string
  readonly text: string
  /** What links into this document may name behind the `#`. */
  readonly anchors: readonly string[]
}

export interface Snippet {
  /** Such as `src/models/README.md, snippet 2`. */
  readonly name: string
  /** Such as `ts`. */
  readonly language: string
  readonly code: string
}

export function textOf(path: string): string {
  return readFileSync(`${root}${path}`, 'utf8')
}

/** The readme first, then every guide, by its path. */
export const documents: readonly Document[] = [
  'README.md',
  ...globSync('{src,adapters,examples}/**/README.md', { cwd: root }).sort(),
  ...globSync('examples/site/recipes/*.md', { cwd: root }).sort(),
].map((path) => {
  const text = textOf(path)
  return {
    path,
    text,
    anchors: [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title)),
  }
})

export function documentAt(path: string): Document {
  const found = documents.find((document) => document.path === path)
  if (found === undefined) throw new Error(`there is no ${path}`)
  return found
}

/** Every block of code, as it is in the documents. */
export const snippets: readonly Snippet[] = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = ''], at) => ({
    name: `${path}, snippet ${at + 1}`,
    language,
    code,
  })),
)

/** The text between a heading and the next one of any level. */
export function section({ path, text }: Document, title: string): string {
  const found = text.split(/^#+ /m).find((part) => part.startsWith(`${title}\n`))
  if (found === undefined) throw new Error(`${path} has no section "${title}"`)
  return found
}

/** What is between `<!-- name -->` and `<!-- /name -->`. */
export function marked({ path, text }: Pick<Document, 'path' | 'text'>, name: string): string {
  const [, found] = text.split(new RegExp(`<!-- /?${name} -->\n?`))
  if (found === undefined) throw new Error(`${path} has no "${name}"`)
  return found
}

/** The rows of all tables without their heads, cell by cell. */
export function rows(text: string): string[][] {
  const lines = text.split('\n')
  const isRow = (line: string | undefined) => line?.startsWith('| ') === true && !line.startsWith('| ---')
  const isHead = (at: number) => lines[at + 1]?.startsWith('| ---') === true
  return lines
    .filter((line, at) => isRow(line) && !isHead(at))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
}

/** What is written as code in a text. */
export function inCode(text: string | undefined): string[] {
  return [...(text ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

export function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** As GitHub makes it of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

/** The body of an exported interface, wherever in the sources it is. */
function bodyOf(name: string): string {
  const form = new RegExp(`export interface ${name}\\b[^{]*\\{\n([\\s\\S]*?)\n\\}`)
  const found = globSync('{src,adapters}/**/*.ts', { cwd: root }).flatMap((path) => form.exec(textOf(path))?.[1] ?? [])
  if (found.length !== 1) throw new Error(`${found.length} interfaces are called ${name}`)
  return found[0] ?? ''
}

export function members(name: string): string[] {
  return [...bodyOf(name).matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, member = '']) => member)
}

/** The defaults that the members of an interface state, as far as they are numbers: `4 MiB`, `60,000`. */
export function numericDefaults(name: string): [member: string, value: string][] {
  const documented = bodyOf(name).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+readonly (\w+)\??:/g)
  return [...documented].flatMap(([, text = '', member = '']): [string, string][] => {
    const [, value] = /\bDefault:? (\d[\d,.]*(?: [KMG]iB)?)/.exec(text.replace(/\s+\*?\s*/g, ' ')) ?? []
    return value === undefined ? [] : [[member, value.replace(/[.,]$/, '')]]
  })
}
