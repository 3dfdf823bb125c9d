import { expect, test } from 'vitest'
import { Sealing } from '../../../src/models/vendor-keys/sealing.ts'
import { memoryVendorKeyStore } from '../../../src/models/vendor-keys/memory.ts'
import { testVendorKeyStore } from '../../../src/testing/index.ts'

const [first, second] = ['first secret of the host, 32 characters', 'second secret of the host, 32 characters']
const name = { account: 'ada', provider: 'openai' }
const key = 'sk-proj-1234567890'

testVendorKeyStore(test, memoryVendorKeyStore)

test('a sealed key opens for its account and provider, and has nothing of the key', () => {
  const sealing = new Sealing([first])
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

test('it does not open for another account or provider, nor changed in any byte', () => {
  const sealing = new Sealing([first])
  const sealed = sealing.seal(key, name)
  const others = [
    { account: 'eve', provider: 'openai' },
    { account: 'ada', provider: 'anthropic' },
    { account: 'ada"', provider: ',"openai' },
    { account: 'adaopenai', provider: '' },
  ]
  for (const other of others) expect(() => sealing.open(sealed, other)).toThrow(/moved from another account/)
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

test('the first secret seals, all open, and others do not', () => {
  const [old, both, other] = [new Sealing([first]), new Sealing([second, first]), new Sealing([second])]
  const sealed = old.seal(key, name)
  expect(both.open(sealed, name)).toBe(key)
  expect([both.isOld(sealed), both.isOld(both.seal(key, name))]).toEqual([true, false])
  expect(other.open(both.seal(key, name), name)).toBe(key)
  expect(() => other.open(sealed, name)).toThrow(/add the older secret/)
  expect(() => old.open(both.seal(key, name), name)).toThrow(/add the older secret/)
})
