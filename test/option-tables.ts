/**
 * Tables of options in the guides, made of the declarations: `npm run example test/option-tables.ts` writes them anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { marked } from './documents.ts'
import { publicNames, type PublicName, type PublicNames } from './public-names.ts'

const file = join(fileURLToPath(new URL('../', import.meta.url)), 'src/providers/README.md')

/** Name of a section → the interface whose options it lists, without those of the other one. */
const sections: readonly (readonly [section: string, interfaceName: string, without?: string])[] = [
  ['all-options', 'SimpleVendorOptions'],
  ['openai-options', 'OpenAIOptions', 'SimpleVendorOptions'],
  ['anthropic-options', 'AnthropicOptions', 'SimpleVendorOptions'],
  ['gemini-options', 'GeminiOptions', 'SimpleVendorOptions'],
  ['bedrock-options', 'BedrockAnthropicOptions', 'AnthropicOptions'],
  ['vertex-options', 'VertexAnthropicOptions', 'AnthropicOptions'],
  ['video-options', 'VideoVendorOptions', 'SimpleVendorOptions'],
  ['kling-options', 'KlingOptions', 'VideoVendorOptions'],
  ['demo-options', 'DemoOptions'],
]

/** Each section as it is in the guide, and as the declarations say. */
export function optionTables({
  names,
}: Pick<PublicNames, 'names'>): { readonly section: string; readonly written: string; readonly declared: string }[] {
  const guide = { path: 'src/providers/README.md', text: readFileSync(file, 'utf8') }
  return sections.map(([section, of, without]) => ({
    section,
    written: marked(guide, section).trim(),
    declared: tableOf(optionsOf(names, of), without === undefined ? [] : optionsOf(names, without)),
  }))
}

function optionsOf(names: readonly PublicName[], of: string): readonly (readonly [option: string, text: string])[] {
  return names.flatMap(({ name, text }) =>
    name.startsWith(`${of}.`) ? [[name.slice(of.length + 1), text.replace(/\s+/g, ' ').replaceAll('|', '\\|')]] : [],
  )
}

function tableOf(options: ReturnType<typeof optionsOf>, without: ReturnType<typeof optionsOf>): string {
  const known = new Set(without.map(([name]) => name))
  const rows = options.filter(([name]) => !known.has(name)).map(([name, text]) => `| \`${name}\` | ${text} |`)
  return ['| option | |', '| --- | --- |', ...rows].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let guide = readFileSync(file, 'utf8')
  for (const { section, declared } of optionTables(publicNames())) {
    const marks = new RegExp(`(<!-- ${section} -->\n)[^]*?(<!-- /${section} -->)`)
    guide = guide.replace(marks, (_, begin: string, end: string) => `${begin}${declared}\n${end}`)
  }
  writeFileSync(file, guide)
}
