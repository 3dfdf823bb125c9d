/** The books beside the bill of a vendor, for the operator. */
import { expect, onTestFinished, test } from 'vitest'
import { adminApi, type AdminFailure } from 'modelhatch/admin'
import { mount } from 'modelhatch/node'
import { createGateway, csvReport, memoryUsageStore, type VendorReportReader } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { serve } from '../../adapters/hosts/serve.ts'
import { usageRecord } from '../../observe/usage/record.ts'
import { authorize, send } from './served.ts'

const [from, to] = [Date.parse('2026-10-01T00:00:00Z'), Date.parse('2026-10-03T00:00:00Z')]
const bill = `day,model,requests,input_tokens,cached_tokens,output_tokens,cost
2026-10-01,gpt-5,1,1000,0,100,0.00225
2026-10-02,gpt-5,1,2000,0,100,0.0035`

async function opened(readers: Readonly<Record<string, VendorReportReader>>) {
  const usage = memoryUsageStore()
  const base = { account: 'acme', model: 'gpt-5', provider: 'openai', providerModel: 'gpt-5' }
  const record = (id: string, startedAt: number, promptTokens: number) =>
    usageRecord({
      ...base,
      id,
      startedAt,
      promptTokens,
      completionTokens: 100,
      vendorCost: BigInt(promptTokens * 1_250 + 1_000_000),
    })
  await usage.append([record('req_1', from + 1, 1_000)])
  const gateway = createGateway({
    models: { 'gpt-5': { provider: openai({ apiKey: 'sk' }), cost: { input: '1.25', output: '10' } } },
    storage: { usage },
    reports: readers,
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const failures: AdminFailure[] = []
  const api = adminApi(gateway, { authorize, onError: (failure) => void failures.push(failure) })
  const origin = await serve(mount(api))
  const ask = (body: object, as = 'admin') => send(origin, '/reconciliations', { body, headers: { 'x-as': as } })
  const get = (path: string, as = 'admin') => send(origin, path, { headers: { 'x-as': as } })
  return { ask, get, failures }
}

test('is compared with the reader of the options, when the operator asks', async () => {
  let read = 0
  const { ask, get } = await opened({
    openai(period) {
      read++
      return csvReport(bill)(period)
    },
  })
  expect((await get('/me')).json.features.reconcile).toBe(true)
  expect((await get('/reports')).json.items).toEqual([{ vendor: 'openai' }])
  expect(read).toBe(0)
  const { status, json } = await ask({ vendor: 'openai', from, to })
  expect([status, read]).toEqual([200, 1])
  expect(json).toMatchObject({
    ours: '0.00225',
    theirs: '0.00575',
    difference: '0.0035',
    causes: { other: '0.0035' },
    unexplained: '0',
  })
  expect(json.days).toMatchObject([
    { model: 'gpt-5', day: '2026-10-01', difference: '0', causes: {} },
    { model: 'gpt-5', day: '2026-10-02', difference: '0.0035', causes: { other: '0.0035' } },
  ])
  const double = await ask({ vendor: 'openai', from, to, rate: '2' })
  expect(double.json.theirs).toBe('0.0115')
})

test('customers, unknown vendors and invalid periods are refused', async () => {
  const { ask, get } = await opened({ openai: csvReport(bill) })
  expect((await ask({ vendor: 'openai', from, to }, 'acme')).status).toBe(404)
  expect((await get('/me', 'acme')).json.features.reconcile).toBe(false)
  expect((await get('/reports', 'acme')).status).toBe(404)
  expect((await ask({ vendor: 'openai', from, to }, 'reader')).status).toBe(403)
  for (const [change, param] of [
    [{ vendor: 'other' }, 'vendor'],
    [{ vendor: 'constructor' }, 'vendor'],
    [{ from: from + 1 }, 'from'],
    [{ to: from }, 'to'],
    [{ rate: 'x' }, 'rate'],
  ] as const) {
    const { status, json } = await ask({ vendor: 'openai', from, to, ...change })
    expect([status, json.error.param]).toEqual([400, param])
  }
})

test('a reader that fails is a 503 without the words of the vendor, and its cause is for the host', async () => {
  const failing = () => Promise.reject(new Error('sk-admin-1 is not allowed'))
  const { ask, failures } = await opened({ openai: failing })
  const { status, json, headers } = await ask({ vendor: 'openai', from, to })
  expect([status, headers['x-should-retry']]).toEqual([503, 'false'])
  expect(json.error.message).toContain('The bill of "openai" could not be read')
  expect(json.error.message).not.toContain('sk-admin')
  expect(failures).toMatchObject([{ error: { cause: { message: 'sk-admin-1 is not allowed' } } }])
})

test('four are read at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let waiting = 0
  const { ask } = await opened({
    async openai(period) {
      waiting++
      await promise
      return csvReport(bill)(period)
    },
  })
  const running = Array.from({ length: 4 }, () => ask({ vendor: 'openai', from, to }))
  await expect.poll(() => waiting).toBe(4)
  expect((await ask({ vendor: 'openai', from, to })).status).toBe(429)
  resolve()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('a reader that is none is refused at the start', () => {
  const models = { 'gpt-5': openai({ apiKey: 'sk' }) }
  expect(() => createGateway({ models, reports: { openai: {} as never } })).toThrow(
    /reports\.openai.* must be a reader/,
  )
})
