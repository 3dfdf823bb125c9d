/** What a process holds of a gateway that was closed: nothing, so that it ends by itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { VendorReply } from 'modelhatch/testing'
import { expect, onTestFinished, test } from 'vitest'
import { vendorFor } from '../hosted.ts'

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

test('a process whose gateway was closed, with calls under way in every phase, ends by itself at once', async () => {
  const replies = [whole, silent, begun, refusing]
  const vendor = await vendorFor((request, response) => replies.shift()?.(request, response))
  const flags = ['--conditions=modelhatch-source', '--unhandled-rejections=strict', child, vendor.baseUrl]
  const running = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void running.kill('SIGKILL'))
  let said = ''
  let closedAt = 0
  running.stdout.on('data', (piece: Buffer) => {
    said += piece.toString('utf8')
    if (said.includes('closed')) closedAt ||= performance.now()
  })
  const [code] = (await once(running, 'close')) as [number | null]
  expect({ code, said }).toEqual({ code: 0, said: 'closed []\n' })
  expect(performance.now() - closedAt).toBeLessThan(1_000)
  expect(vendor.requests.map(({ signal }) => signal.aborted)).toEqual([false, true, true, false])
})
