/**
 * A gateway in a separate process, for the vendor at `VENDOR_URL`. Sends its parent its port and, on request, its peak
 * memory since the last request. `/drain` reads a body and discards it, to measure what Node itself needs for that.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { openai } from 'modelhatch/providers'

const gateway = createGateway({
  keys: { 'sk-test': {} },
  models: { m: openai({ baseURL: process.env['VENDOR_URL'] as string }) },
})
const serve = mount(gateway)
const server = createServer((request, response) => {
  if (request.url !== '/drain') return serve(request, response)
  request.on('end', () => response.end()).resume()
})
let peak = 0
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 5).unref()

process.on('message', () => {
  process.send?.({ peak })
  globalThis.gc?.()
  peak = 0
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
