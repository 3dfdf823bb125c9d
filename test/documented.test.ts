/** Whatever the package exports says what it is where an editor shows it, and guides list options as declared. */
import { expect, test } from 'vitest'
import { optionTables } from './option-tables.ts'
import { publicNames } from './public-names.ts'

const { entries, names } = publicNames()

test('the names are found', () => {
  expect([...entries.keys()]).toContain('modelhatch/providers')
  expect(entries.get('modelhatch')).toContain('createGateway')
  expect(names.find(({ name }) => name === 'GatewayOptions.models')?.text).toContain('models')
  expect(names.length).toBeGreaterThan(500)
})

test('each has hover text', () => {
  const missing = names.filter(({ text }) => text.trim() === '')
  expect(missing.map(({ name, file }) => `${name} in ${file}`)).toEqual([])
})

test('the tables of options are those of the declarations', () => {
  for (const { section, written, declared } of optionTables({ names })) {
    expect(declared.split('\n').length, section).toBeGreaterThan(2)
    expect(written, `${section}: npm run example test/option-tables.ts`).toBe(declared)
  }
})
