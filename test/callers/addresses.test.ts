import { describe, expect, test } from 'vitest'
import { isRange, isWithin } from '../../src/callers/addresses.ts'
import { createGateway } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { hosted } from '../hosted.ts'

describe('an address is within', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.255'],
    ['0.0.0.0/0', '8.8.8.8'],
    ['10.0.0.0/8', '::ffff:10.1.2.3'],
    ['10.0.0.0/8', '::FFFF:0a01:0203'],
    ['::ffff:10.0.0.0/104', '10.1.2.3'],
    ['::ffff:10.1.2.3', '::ffff:a01:203'],
    ['2001:db8::/32', '2001:0db8:ffff::1'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['fe80::/10', 'fe80::1%eth0'],
    ['::/0', '2001:db8::1'],
  ])('%s: %s', (range, address) => {
    expect(isRange(range)).toBe(true)
    expect(isWithin([range], address)).toBe(true)
    expect(isWithin(['192.0.2.1', range], address)).toBe(true)
  })

  test.each([
    ['203.0.113.7', '203.0.113.8'],
    ['203.0.113.0/24', '203.0.114.0'],
    ['10.0.0.0/8', '::ffff:11.1.2.3'],
    ['10.0.0.0/8', '::10.1.2.3'],
    ['2001:db8::/32', '2001:db9::1'],
    ['0.0.0.0/0', '2001:db8::1'],
    ['0.0.0.0/0', undefined],
    ['::/0', undefined],
    ['::/0', ''],
    ['0.0.0.0/0', '10.1.2.3, 8.8.8.8'],
    ['0.0.0.0/0', '010.1.2.3'],
    ['0.0.0.0/0', '10.1.2.3:80'],
    ['0.0.0.0/0', 'localhost'],
  ])('%s: not %s', (range, address) => {
    expect(isWithin([range], address)).toBe(false)
  })

  test('no list at all: none', () => {
    expect(isWithin([], '10.1.2.3')).toBe(false)
  })
})

test.each([
  '',
  '10.0.0.1/8',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/08',
  '10.0.0/8',
  '2001:db8::1/32',
  '2001:db8::/129',
  'fe80::1%eth0',
  'example.com',
  ' 10.0.0.1',
  '10.0.0.0/8/8',
  '::ffff:10.0.0.1/104',
])('%j is no range', (text) => {
  expect(isRange(text)).toBe(false)
})

test('a key is rejected from other addresses with the same 401 as an unknown key, and where the host knows no address', async () => {
  const gateway = createGateway({
    models: { demo: demo() },
    keys: {
      'sk-loopback': { addresses: ['127.0.0.0/8', '::1'] },
      'sk-elsewhere': { addresses: ['192.0.2.0/24'] },
      'sk-nowhere': { addresses: [] },
    },
  })
  const url = await hosted(gateway)
  const ask = async (key: string) => {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    return { status: response.status, body: await response.text() }
  }
  expect((await ask('sk-loopback')).status).toBe(200)
  const unknown = await ask('sk-unknown')
  expect(unknown.status).toBe(401)
  for (const key of ['sk-elsewhere', 'sk-nowhere']) expect(await ask(key)).toEqual(unknown)
  const exchange = {
    method: 'GET',
    target: '/v1/models',
    headers: { authorization: 'Bearer sk-loopback' },
    body: { state: 'lost' as const },
    signal: new AbortController().signal,
  }
  expect((await gateway.handle(exchange)).status).toBe(401)
  expect((await gateway.handle({ ...exchange, ip: '::ffff:127.0.0.1' })).status).toBe(200)
})

test('options reject a range with bits behind its prefix', () => {
  const keys = { 'sk-1': { addresses: ['10.0.0.1/8'] } }
  expect(() => createGateway({ models: { demo: demo() }, keys })).toThrow(/addresses.*10\.0\.0\.0\/8/)
})
