/** Whatever the package exports says what it is where an editor shows it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { publicNames } from './public-names.ts'

const { entries, names } = publicNames()
const list = new URL('undocumented.json', import.meta.url)

test('the names are found', () => {
  expect([...entries.keys()]).toContain('modelhatch/providers')
  expect(entries.get('modelhatch')).toContain('createGateway')
  expect(names.find(({ name }) => name === 'GatewayOptions.models')?.text).toContain('models')
  expect(names.length).toBeGreaterThan(500)
})

test('each has hover text, but for a list that only shrinks', () => {
  const missing = names.filter(({ text }) => text.trim() === '')
  const found = [...new Set(missing.map(({ name }) => name))].sort()
  if (process.env['MODELHATCH_WRITE'] !== undefined) writeFileSync(list, `${JSON.stringify(found, null, 2)}\n`)
  const known = new Set(JSON.parse(readFileSync(list, 'utf8')) as string[])
  const undocumented = missing.filter(({ name }) => !known.has(name)).map(({ name, file }) => `${name} in ${file}`)
  expect(undocumented).toEqual([])
  // Run this file with MODELHATCH_WRITE=1 to take these off the list.
  expect([...known].filter((name) => !found.includes(name))).toEqual([])
})
