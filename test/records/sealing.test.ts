import { expect, test } from 'vitest'
import { Sealing } from '../../src/records/sealing.ts'

const [first, second] = ['first secret of the host, 32 characters', 'second secret of the host, 32 characters']
const name = ['ada', 'openai']
const use = { use: 'vendor keys', option: 'ownKeys.secrets' }
const key = 'sk-proj-1234567890'

test('a sealed key opens for what it is bound to, and has nothing of the key', () => {
  const sealing = new Sealing([first], use)
  const sealed = sealing.seal(key, name)
  expect(sealing.open(sealed, name)).toBe(key)
  expect(sealed).not.toContain(key)
  expect(Buffer.from(sealed.split('.')[2] as string, 'base64url').toString('latin1')).not.toContain('sk-proj')
  expect(sealing.seal(key, name)).not.toBe(sealed)
  for (const length of [1, 8, 4_096]) {
    const long = 'k'.repeat(length)
    expect(sealing.open(sealing.seal(long, name), name)).toBe(long)
  }
})

test('it does not open for anything else, nor changed in any byte', () => {
  const sealing = new Sealing([first], use)
  const sealed = sealing.seal(key, name)
  const others = [
    ['eve', 'openai'],
    ['ada', 'anthropic'],
    ['ada"', ',"openai'],
    ['adaopenai', ''],
    ['ada', 'openai', ''],
  ]
  for (const other of others) expect(() => sealing.open(sealed, other)).toThrow(/moved from elsewhere/)
  const [version, id, text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  for (const [place, byte] of bytes.entries()) {
    const changed = Buffer.from(bytes)
    changed[place] = byte ^ 1
    expect(() => sealing.open(`${version}.${id}.${changed.toString('base64url')}`, name)).toThrow(/was changed/)
  }
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length).toString('base64url')
    expect(() => sealing.open(`${version}.${id}.${cut}`, name)).toThrow(/was changed/)
  }
  for (const odd of ['', '1', `2.${id}.${text}`, `1..${text}`, key]) expect(() => sealing.open(odd, name)).toThrow()
})

test('a secret has another key for each use', () => {
  const sealed = new Sealing([first], use).seal(key, name)
  expect(() => new Sealing([first], { ...use, use: 'sessions' }).open(sealed, name)).toThrow(/add the older secret/)
})

test('the first secret seals, all open, and others do not', () => {
  const [old, both, other] = [new Sealing([first], use), new Sealing([second, first], use), new Sealing([second], use)]
  const sealed = old.seal(key, name)
  expect(both.open(sealed, name)).toBe(key)
  const renewed = both.renewed(sealed, name) ?? ''
  expect([both.open(renewed, name), both.renewed(renewed, name)]).toEqual([key, undefined])
  expect(() => both.renewed(sealed, ['another'])).toThrow()
  expect(other.open(both.seal(key, name), name)).toBe(key)
  expect(() => other.open(sealed, name)).toThrow(/"ownKeys.secrets": add the older secret/)
  expect(() => old.open(both.seal(key, name), name)).toThrow(/"ownKeys.secrets": add the older secret/)
})
