/** The reference: what each entry of the package exports, with the text that editors show. */
import { publicNames } from '../../../test/public-names.ts'

export default {
  paths() {
    const { entries, names } = publicNames()
    const texts = new Map(names.map(({ name, text }) => [name, text]))
    return [...entries].map(([title, exported]) => ({
      params: { entry: title.replaceAll('/', '-'), title },
      content: exported.map((name) => sectionOf(name, texts)).join('\n'),
    }))
  },
}

function sectionOf(name: string, texts: ReadonlyMap<string, string>): string {
  const members = [...texts].filter(([member]) => member.startsWith(`${name}.`))
  const rows = members.map(([member, text]) => `| \`${member.slice(name.length + 1)}\` | ${lineOf(text)} |`)
  const table = rows.length === 0 ? [] : ['', '| | |', '| --- | --- |', ...rows]
  return [`## ${name}`, '', escaped(texts.get(name) ?? ''), ...table, ''].join('\n')
}

function lineOf(text: string): string {
  return escaped(text.replace(/\s+/g, ' ').replaceAll('|', '\\|'))
}

/** Braces and tags are text, except in code. */
function escaped(text: string): string {
  return text
    .split(/(```[^]*?```|`[^`\n]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')))
    .join('')
}
