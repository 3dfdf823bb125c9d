/** A closed gateway holds no resources, so the process exits. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { VendorReply, VendorRequest } from 'modelhatch/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createGateway } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { clientOf } from '../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { calmly } from '../cpu-time.ts'
import { sourceFlags } from '../source-flags.ts'

const child = fileURLToPath(new URL('closing-child.ts', import.meta.url))

const whole: VendorReply = (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')
}
const silent: VendorReply = () => undefined
const begun: VendorReply = (_, response) => {
  response.setHeader('content-type', 'text/event-stream')
  response.write('data: {"id":"x","created":1,"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n')
}
const refusing: VendorReply = (_, response) => void response.writeHead(503).end()

function nameOf({ json }: VendorRequest): string {
  return (json as { messages: [{ content: string }] }).messages[0].content
}

test('a process exits at once after its gateway closes with requests in every phase', async () => {
  // Keyed by name, because requests on several connections arrive in any order.
  const replies = new Map(Object.entries({ whole, silent, begun, refusing }))
  const vendor = await vendorFor((request, response) => replies.get(nameOf(request))?.(request, response))
  const flags = [...sourceFlags, '--unhandled-rejections=strict', child, vendor.baseURL]
  const running = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void running.kill('SIGKILL'))
  let output = ''
  let closedAt = 0
  running.stdout.on('data', (piece: Buffer) => {
    output += piece.toString('utf8')
    if (output.includes('closed')) closedAt ||= performance.now()
  })
  const [code] = (await once(running, 'close')) as [number | null]
  expect({ code, output }).toEqual({ code: 0, output: 'closed []\n' })
  expect(calmly(performance.now() - closedAt, 1_000)).toBeLessThan(1_000)
  const aborted = vendor.requests.map((request) => [nameOf(request), request.signal.aborted])
  expect(Object.fromEntries(aborted)).toEqual({ whole: false, silent: true, begun: true, refusing: false })
})

test('a provider of two gateways says why it fails once one of them is closed', async () => {
  const vendor = await vendorFor(whole)
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
  const closing = createGateway({ models: { m: provider } })
  const failures: unknown[] = []
  const other = await hostedWith({ models: { m: provider }, hooks: { failure: ({ error }) => failures.push(error) } })
  await closing.close()
  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
  await expect(clientOf(other.url).chat.completions.create(request)).rejects.toMatchObject({ status: 503 })
  expect(String(Object(failures[0]).cause)).toMatch(/UND_ERR_\w+\. Its provider was closed by gateway.close\(\)/)
})
