/** The readme is a promise too: what its tables say is what the sources say. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { GatewayError, type ErrorCode } from 'modelhatch'

const readme = textOf('README.md')

function textOf(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
}

function section(title: string): string {
  return readme.split(/^##+ /m).find((part) => part.startsWith(`${title}\n`)) ?? ''
}

/** The rows of a table, cell by cell. */
function rows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  return lines.map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

function inCode(text: string | undefined): string[] {
  return [...(text ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** The members of an interface in a source file. */
function members(path: string, name: string): string[] {
  const body = new RegExp(`export interface ${name} \\{\n([\\s\\S]*?)\n\\}`).exec(textOf(path))?.[1] ?? ''
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, member = '']) => member)
}

test('the table of errors has every code, with its status', () => {
  const told = rows(section('Errors'))
    .slice(1)
    .flatMap(([status, codes]) => inCode(codes).map((code) => `${code} ${status}`))
  const union = /export type ErrorCode =\n([\s\S]*?)\n\n/.exec(textOf('src/errors.ts'))?.[1] ?? ''
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code as ErrorCode)
  expect(codes.length).toBeGreaterThan(10)
  expect(new Set(told)).toEqual(new Set(codes.map((code) => `${code} ${new GatewayError(code).status}`)))
})

test.each([
  ['Options', 'src/options/options.ts', 'GatewayOptions', ''],
  ['Options', 'src/options/options.ts', 'Hooks', 'hooks'],
  ['Options', 'src/routing/perform.ts', 'RetryOptions', 'retry'],
  ['Options', 'src/routing/breaker.ts', 'BreakerOptions', 'breaker'],
  ['Options', 'src/auth/cache.ts', 'KeyCacheOptions', 'keyCache'],
  ['Sizes and times', 'src/http/sizes.ts', 'Sizes', 'sizes'],
  ['Sizes and times', 'src/http/timeouts.ts', 'Timeouts', 'timeouts'],
])('the section %s has every option of %s %s', (title, path, name, prefix) => {
  const told = rows(section(title)).flatMap(([option]) => inCode(option))
  const whole = told.map((option) => option.replace(/^\./, `${prefix}.`))
  const groups = told.map((option) => option.split('.')[0] ?? '')
  const options = members(path, name)
  expect(options.length).toBeGreaterThan(1)
  const missing = options.filter(
    (option) => !(prefix === '' ? groups : whole).includes(prefix === '' ? option : `${prefix}.${option}`),
  )
  expect(missing).toEqual([])
})

test('every place it points to is there', () => {
  const anchors = [...readme.matchAll(/^##+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, link]) => link)
  expect(links.filter((link) => !anchors.includes(link ?? ''))).toEqual([])
  const paths = [...readme.matchAll(/\b(?:src|examples|test)\/[\w./-]*[\w/]/g)].map(([path]) => path)
  expect(paths.length).toBeGreaterThan(3)
  expect(paths.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([])
})

test('every script it names is there', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})
