/** The guide's tables of types, beta features and fields are those of the sources. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { passedHeaders } from '../../../src/endpoints/messages/headers.ts'
import { betas } from '../../../src/providers/costs/betas.ts'
import {
  chatConversation,
  messageConversation,
  responseConversation,
  type TypeKind,
} from '../../../src/providers/costs/conversation.ts'
import { placing } from '../../../src/providers/costs/placing.ts'
import { root } from '../../documents.ts'

const guide = `${root}src/models/README.md`

const kinds: Readonly<Record<string, string>> = {
  harmless: 'passes',
  files: 'passes, but not a `file_id` of your account, unless you allow `files`',
  tools: 'its tools are checked like `tools`',
  own: 'you allow it by its name',
}

test.each<[name: string, types: ReadonlyMap<string, TypeKind>]>([
  ['chat-types', chatConversation.types],
  ['response-types', responseConversation.types],
  ['message-types', messageConversation.types],
  ['beta-features', new Map([...betas].map(([name, allow = 'harmless']) => [name, allow]))],
])('%s', async (name, types) => {
  const all = [...types].map(([type, kind]) => [type, kind === type ? 'own' : kind] as const)
  const names = [...new Set(all.map(([, kind]) => kind))].map((kind) => {
    const listed = all.filter(([, each]) => each === kind).map(([type]) => `\`${type}\``)
    return `| ${(name === 'beta-features' && kind === 'files' ? undefined : kinds[kind]) ?? `you allow \`${kind}\``} | ${listed.join(', ')} |`
  })
  const table = ['| What happens | Types |', '| --- | --- |', ...names].join('\n')
  const text = readFileSync(guide, 'utf8')
  const [before = '', rest = ''] = text.split(`<!-- ${name} -->\n`)
  const whole = `${before}<!-- ${name} -->\n${table}\n${rest.slice(rest.indexOf(`<!-- /${name} -->`))}`
  if (process.env['MODELHATCH_UPDATE']) writeFileSync(guide, whole)
  else expect(text).toBe(whole)
})

test('headers, and fields about the place', () => {
  const text = readFileSync(guide, 'utf8')
  for (const name of [...passedHeaders, ...Object.keys(placing)]) expect(text).toContain(`\`${name}\``)
})
