import { expect, test } from 'vitest'
import { textOf } from './documents.ts'
import { version } from '../src/http/version.ts'

test('the version is that of the package', () => {
  expect(version).toBe((JSON.parse(textOf('package.json')) as { version: string }).version)
})
