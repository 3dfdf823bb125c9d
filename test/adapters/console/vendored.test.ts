import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { vendoredFiles, vendorFolder } from './vendored.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

test('the libraries of the page are the files of the packages, with their licences: npm run console:vendor', () => {
  const expected = vendoredFiles()
  const present = readdirSync(vendorFolder).filter((name) => !name.endsWith('.d.ts'))
  expect(new Set(present)).toEqual(new Set(expected.keys()))
  for (const [name, text] of expected) {
    expect(digest(readFileSync(join(vendorFolder, name), 'utf8')), name).toBe(digest(text))
  }
  for (const name of ['preact.LICENSE', 'uplot.LICENSE'])
    expect(expected.get(name)).toMatch(/MIT License|Permission is hereby/)
})
