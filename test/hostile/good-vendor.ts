/** A well-behaved vendor: the demo model in OpenAI's format, and scripted responses in Anthropic's and Google's. */
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'
import { anthropicDialect, type Dialect } from 'modelhatch/testing'
import { selectors } from './seeds.ts'

export interface GoodVendor {
  readonly baseURL: string
  /** Headers of clients that select something within the host's account, and reached the vendor. */
  readonly selecting: readonly string[]
  close(): Promise<void>
}

export async function goodVendor(key: string): Promise<GoodVendor> {
  const gateway = createGateway({ keys: { [key]: {} }, models: { '*': demo({ paceMs: 0, videoSeconds: 0 }) } })
  const demos = mount(gateway)
  const selecting: string[] = []
  const server = createServer((request, response) => {
    const { url = '', headers } = request
    for (const name of selectors) if (name in headers) selecting.push(`${name}: ${String(headers[name])}`)
    if (url.endsWith('/messages')) void respond(anthropicDialect, request, response)
    else if (url.includes('batchEmbedContents')) void embed(request, response)
    else if (/enerateContent/.test(url)) void respond(geminiDialect, request, response)
    else demos(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    selecting,
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      await Promise.all([gateway.close({ graceMs: 0 }), new Promise((resolve) => server.close(resolve))])
    },
  }
}

const drawn = JSON.stringify({
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }, finishReason: 'STOP' }],
})

async function respond(dialect: Dialect, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined)
  const body = await textOf(request).catch(() => '')
  const script = { text: 'Hello', usage: { input: 5, cached: 0, output: 2, reasoning: 0 } }
  const stream = request.url?.includes('stream') === true || body.includes('"stream":true')
  const type = stream ? 'text/event-stream' : 'application/json'
  response.writeHead(200, { 'content-type': type })
  if (body.includes('"responseModalities"')) return void response.end(drawn)
  response.end(stream ? dialect.stream(script).frames.join('') : dialect.body(script))
}

async function embed(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined)
  const { requests } = JSON.parse(await textOf(request)) as { requests: unknown[] }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ embeddings: requests.map(() => ({ values: [0.1, 0.2] })) }))
}
