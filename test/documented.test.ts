/** Whatever the package exports says what it is where an editor shows it. */
import { expect, test } from 'vitest'
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
