import { expect, test } from 'vitest'
import { memoryUsageStore } from '../../../src/index.ts'
import type { AdminCall } from '../../../src/admin/api/route.ts'
import { routes } from '../../../src/admin/api/routes.ts'
import { gatewayWith, record, served } from './served.ts'

test('a long list is printed in pieces, with the same headers as a short one', async () => {
  const usage = memoryUsageStore()
  const users = Array.from({ length: 4_321 }, (_, index) => `user_${String(index).padStart(4, '0')} ü`)
  await usage.append(users.map((user, index) => record({ id: `req_${index}`, account: 'acme', user })))
  const { ask } = await served(gatewayWith({ storage: { usage } }))
  const path = '/usage?by=user'
  const { status, headers, text, json } = await ask('admin', path)
  expect(status).toBe(200)
  expect(json.items.map(({ user }: { user: string }) => user)).toEqual(users)
  expect(text).toBe(JSON.stringify(json))
  expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
  const head = await ask('admin', path, { method: 'HEAD' })
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']])
  const short = await ask('admin', '/usage?by=account')
  expect(Object.keys(headers).toSorted()).toEqual(Object.keys(short.headers).toSorted())
})

test('an export is sent in pieces that are small, however large its items are', async () => {
  const exported = routes.find(({ name }) => name === 'exportAccount')
  if (exported?.produces !== 'jsonl') throw new Error('there is no export')
  const item = { kind: 'content', item: { text: 'x'.repeat(100_000) } }
  async function* items() {
    for (let count = 0; count < 250; count++) yield item
  }
  const call = { admin: { export: items }, account: 'acme', identity: { role: 'admin' } } as unknown as AdminCall
  const sizes: number[] = []
  for await (const piece of exported.answer(call)) sizes.push(piece.length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(250 * (JSON.stringify(item).length + 1))
  expect(Math.max(...sizes)).toBeLessThan(200_000)
})
