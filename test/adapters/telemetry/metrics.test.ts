/** Metrics for Prometheus, scraped from every host. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import expressV4 from 'express-v4'
import Koa from 'koa'
import KoaV2 from 'koa-v2'
import { Counter, Registry } from 'prom-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mount as mountInExpress } from '../../../adapters/hosts/express.ts'
import { mount as mountInFetch } from '../../../adapters/hosts/fetch.ts'
import { mount as mountInKoa } from '../../../adapters/hosts/koa.ts'
import { mount as mountOnNode } from '../../../adapters/hosts/node.ts'
import { metrics, type Metrics, type MetricsOptions } from '../../../adapters/telemetry/metrics/metrics.ts'
import { createGateway, type GatewayOptions } from '../../../src/index.ts'
import { defineProvider, finish, retrySame, text } from '../../../src/providers/index.ts'
import { askChat, hosted } from '../../hosted.ts'

const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }

const good = defineProvider({
  name: 'good',
  async *generate() {
    yield text('Hel')
    yield text('lo')
    yield finish('stop', usage)
  },
})

const bad = defineProvider({
  name: 'bad',
  chat: () => {
    throw retrySame(new Error('down'), { vendorStatus: 500 })
  },
})

async function counted(given: MetricsOptions = {}, more: Partial<GatewayOptions> = {}) {
  const prometheus = metrics(given)
  const route = [bad, good].map((provider, order) => ({ provider, order, providerModel: `${provider.name}-1` }))
  const gateway = createGateway({
    keys: { 'sk-test': { account: 'acme' } },
    models: { m: { route } },
    retry: { maxAttempts: 1 },
    telemetry: [prometheus],
    ...more,
  })
  return { prometheus, gateway, url: await hosted(gateway) }
}

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The lines of a scrape without those of buckets and comments. */
async function scrape({ registry }: Metrics): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line) && !line.includes('_bucket'))
}

describe.each([
  ['Express 5', (prometheus: Metrics) => express().use('/metrics', mountInExpress(prometheus)) as RequestListener],
  ['Express 4', (prometheus: Metrics) => expressV4().use('/metrics', mountInExpress(prometheus)) as RequestListener],
  ['Koa 3', (prometheus: Metrics) => new Koa().use(mountInKoa('/metrics', prometheus)).callback()],
  ['Koa 2', (prometheus: Metrics) => new KoaV2().use(mountInKoa('/metrics', prometheus)).callback()],
  ['node', (prometheus: Metrics) => mountOnNode(prometheus) as RequestListener],
] as const)('in %s', (_, app) => {
  test('a scrape gets the metrics in the format of Prometheus', async () => {
    const { prometheus, url } = await counted()
    await (await askChat(url)).text()
    const host = await listening(app(prometheus))
    for (const path of ['/metrics', '/metrics/', '/metrics?format=text']) {
      const response = await fetch(`${host}${path}`, { headers: { accept: 'text/plain' } })
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/plain; version=0.0.4; charset=utf-8',
      ])
      expect(await response.text()).toContain('# TYPE gen_ai_server_request_duration_seconds histogram')
    }
    expect((await fetch(`${host}/metrics`, { method: 'HEAD' })).status).toBe(200)
    const refused = await fetch(`${host}/metrics`, { method: 'POST', body: 'x' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

test('a fetch handler serves the metrics, below its prefix', async () => {
  const { prometheus } = await counted()
  const handle = mountInFetch(prometheus, { prefix: '/metrics' })
  const response = await handle(new Request('http://host/metrics'))
  expect(await response.text()).toContain('# TYPE modelhatch_calls_open gauge')
})

test('attempts, tokens and requests are counted, by model and by whose fault a failure was', async () => {
  const { prometheus, url } = await counted()
  await (await askChat(url)).text()
  await askChat(url, { model: 'unknown' })
  const lines = await scrape(prometheus)
  const chat = 'gen_ai_operation_name="chat",gen_ai_provider_name='
  expect(lines).toEqual(
    expect.arrayContaining([
      `gen_ai_client_operation_duration_seconds_count{${chat}"bad",gen_ai_request_model="bad-1",error_type="provider_unavailable"} 1`,
      `gen_ai_client_operation_duration_seconds_count{${chat}"good",gen_ai_request_model="good-1"} 1`,
      `gen_ai_client_token_usage_sum{${chat}"good",gen_ai_request_model="good-1",gen_ai_token_type="input"} 30`,
      `gen_ai_client_token_usage_sum{${chat}"good",gen_ai_request_model="good-1",gen_ai_token_type="output"} 12`,
      `gen_ai_server_request_duration_seconds_count{${chat}"good",gen_ai_request_model="m"} 1`,
      `gen_ai_server_request_duration_seconds_count{${chat}"modelhatch",gen_ai_request_model="_OTHER",error_type="caller_not_found"} 1`,
      'modelhatch_calls_open 0',
    ]),
  )
})

test('buckets are cumulated, up to infinity', async () => {
  const { prometheus, url } = await counted()
  await (await askChat(url)).text()
  const buckets = (await prometheus.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('gen_ai_client_token_usage_bucket') && line.includes('"input"'))
    .map((line) => /le="(.*?)".* (\d+)$/.exec(line)?.slice(1))
  expect(buckets.slice(0, 5)).toEqual([
    ['1', '0'],
    ['4', '0'],
    ['16', '0'],
    ['64', '1'],
    ['256', '1'],
  ])
  expect(buckets.at(-1)).toEqual(['+Inf', '1'])
})

test('streams have their first token and the time per token', async () => {
  const { prometheus, url } = await counted()
  await (await askChat(url, { stream: true })).text()
  const lines = await scrape(prometheus)
  for (const name of [
    'server_time_to_first_token',
    'server_time_per_output_token',
    'client_operation_time_to_first_chunk',
  ])
    expect(lines.filter((line) => line.startsWith(`gen_ai_${name}_seconds_count`))).toMatchObject([/ 1$/])
})

test('no label has an account, a key, or a model name that clients choose', async () => {
  const { prometheus, url } = await counted({}, { models: { m: good, 'open/*': good } })
  for (let turn = 0; turn < 20; turn++) {
    await (await askChat(url, { model: `open/${turn}` })).text()
    await (await askChat(url, { model: `none-${turn}` })).text()
  }
  const output = await prometheus.registry.metrics()
  expect(output).not.toMatch(/acme|sk-test|open\/|none-/)
  const counts = output.split('\n').filter((line) => line.startsWith('gen_ai_server_request_duration_seconds_count'))
  expect(counts.map((line) => line.replace(/.*\} /, ''))).toEqual(['20', '20'])
})

test('the registry can be the host’s own, and several gateways can share the metrics', async () => {
  const registry = new Registry()
  new Counter({ name: 'host_requests_total', help: 'Of the host.', registers: [registry] }).inc()
  registry.setDefaultLabels({ app: 'shop' })
  const { prometheus, url } = await counted({ registry })
  const second = createGateway({ keys: { 'sk-test': {} }, models: { m: good }, telemetry: [prometheus] })
  const other = await hosted(second)
  await (await askChat(url)).text()
  await (await askChat(other)).text()
  const lines = await scrape(prometheus)
  expect(lines).toContain('host_requests_total{app="shop"} 1')
  expect(lines).toContainEqual(
    expect.stringMatching(/^gen_ai_server_request_duration_seconds_count\{.*"m",app="shop"\} 2$/),
  )
  expect(() => metrics({ registry })).toThrow('already been registered')
  registry.resetMetrics()
  expect((await scrape(prometheus)).filter((line) => line.startsWith('gen_ai'))).toEqual([])
})

test('a metric of the host that cannot be collected is a 500 without its reason', async () => {
  const { prometheus } = await counted()
  const collect = () => Promise.reject(new Error('the secret reason'))
  prometheus.registry.registerMetric(new Counter({ name: 'broken_total', help: 'x', registers: [], collect }))
  const response = await mountInFetch(prometheus, { prefix: '/metrics' })(new Request('http://host/metrics'))
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')])
})

test('a closed gateway is no longer part of the gauges', async () => {
  const { prometheus, gateway } = await counted()
  await gateway.close()
  expect(await scrape(prometheus)).toContain('modelhatch_calls_open 0')
  expect(await scrape(prometheus)).toContain('modelhatch_calls_open 0')
})
