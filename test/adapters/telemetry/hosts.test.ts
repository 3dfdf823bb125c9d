/** The instrumentations of `http`, Express and Koa, as hosts use them: their spans are the parents of a request's. */
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { SpanKind } from '@opentelemetry/api'
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { mount as mountInExpress } from '../../../adapters/hosts/express.ts'
import { mount as mountInKoa } from '../../../adapters/hosts/koa.ts'
import { mount as mountOnNode } from '../../../adapters/hosts/node.ts'
import { otel } from '../../../adapters/telemetry/otel/otel.ts'
import { createGateway, type Gateway } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { askChat, vendorFor } from '../../hosted.ts'
import { Sdk, withContexts, type Seen } from './sdk.ts'

// Instrumentations change what is required after them.
const require = createRequire(import.meta.url)
// The vendor of this test is a server in the same process.
const isVendors = ({ headers }: IncomingMessage) => headers['user-agent'] === 'modelhatch'
const http = new HttpInstrumentation({ ignoreIncomingRequestHook: isVendors })
const instrumentations = [http, new ExpressInstrumentation(), new KoaInstrumentation()]

beforeAll(withContexts)

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const sentence = ['Hel', 'lo'].map((content) => ({ index: 0, delta: { content }, finish_reason: null }))

function gatewayIn(sdk: Sdk, baseURL: string): Gateway {
  const { tracerProvider, meterProvider } = sdk
  return createGateway({
    keys: { 'sk-test': {} },
    models: { m: openai({ baseURL }) },
    telemetry: [otel({ tracerProvider, meterProvider })],
  })
}

/** Vendors push their data from a connection that an earlier request has opened, whose context is not this request's. */
function vendor() {
  return vendorFor(({ json }, response) => {
    const head = { id: 'x', created: 1, model: 'm' }
    if ((json as { stream?: boolean }).stream !== true) {
      const message = { role: 'assistant', content: 'Hello' }
      response.setHeader('content-type', 'application/json')
      const body = {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }
      return void response.end(JSON.stringify(body))
    }
    response.setHeader('content-type', 'text/event-stream')
    const end = { index: 0, delta: {}, finish_reason: 'stop' }
    for (const choice of [...sentence, end])
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
}

const apps: [name: string, app: (gateway: Gateway) => RequestListener][] = [
  ['node:http', (gateway) => mountOnNode(gateway)],
  [
    'Express',
    (gateway) => {
      const express = require('express') as typeof import('express')
      return express().use('/ai', mountInExpress(gateway)) as RequestListener
    },
  ],
  [
    'Koa',
    (gateway) => {
      const Koa = require('koa') as typeof import('koa')
      const handle = new Koa().use(mountInKoa('/ai', gateway)).callback()
      return (request, response) => void handle(request, response)
    },
  ],
]

test.each(apps)('in %s a request is below the span of the server, in a trace of its own', async (name, app) => {
  const sdk = new Sdk()
  for (const each of instrumentations) {
    each.setTracerProvider(sdk.tracerProvider)
    each.enable()
  }
  onTestFinished(() => {
    for (const each of instrumentations) each.disable()
  })
  const { createServer } = require('node:http') as typeof import('node:http')
  const gateway = gatewayIn(sdk, (await vendor()).baseURL)
  const server: Server = createServer(app(gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await gateway.close({ graceMs: 0 })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${name === 'node:http' ? '' : '/ai'}`
  for (const stream of [false, true, false]) await (await askChat(url, { stream })).text()
  const own = (spans: Seen[]) => spans.filter(({ attributes }) => attributes['modelhatch.request.id'] !== undefined)
  const servers = (spans: Seen[]) =>
    spans.filter(({ name: called, kind }) => kind === SpanKind.SERVER && called !== 'chat m')
  await expect.poll(() => [own(sdk.spans).length, servers(sdk.spans).length], { timeout: 20_000 }).toEqual([3, 3])
  const traces = new Set(own(sdk.spans).map(({ trace }) => trace))
  expect(traces).toEqual(new Set(servers(sdk.spans).map(({ trace }) => trace)))
  expect(traces.size).toBe(3)
  for (const call of own(sdk.spans)) {
    expect(call).toMatchObject({ name: 'chat m', kind: SpanKind.INTERNAL })
    const above = sdk.spans.find(({ id }) => id === call.parent)
    expect(above?.trace).toBe(call.trace)
    const attempt = sdk.spans.find(
      ({ parent, attributes }) => parent === call.id && attributes['server.address'] !== undefined,
    )
    expect(attempt).toMatchObject({ name: 'chat m', kind: SpanKind.CLIENT, trace: call.trace })
  }
})
