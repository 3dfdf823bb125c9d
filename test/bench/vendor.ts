/** Child process with the vendor. The model name after its last colon selects the scenario. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setInterval as ticks } from 'node:timers/promises'
import { serveParent } from './child.ts'
import { completion, frames, scenarios } from './traffic.ts'

const json = { 'content-type': 'application/json' }
const events = { 'content-type': 'text/event-stream; charset=utf-8' }

const replies = new Map<string, (response: ServerResponse) => void>(
  scenarios.map(({ name, chunks, paceMs, answer = completion, frames: streamed = frames }) => {
    if (chunks === 0) {
      const whole = Buffer.from(answer(name))
      const head = { ...json, 'content-length': whole.length }
      return [name, (response) => response.writeHead(200, head).end(whole)]
    }
    const parts = streamed(name, chunks).map((frame) => Buffer.from(frame))
    if (paceMs > 0) return [name, (response) => void pace(response.writeHead(200, events), parts, paceMs)]
    return [name, (response) => burst(response.writeHead(200, events), parts)]
  }),
)

/** Streams that last until the reader disconnects: `held` with a word a second, `silent` with one word. */
const [role = '', word = ''] = frames('held', 1)
const held = new Set<ServerResponse>()
replies.set('held', (response) => {
  response.writeHead(200, events).write(role)
  held.add(response)
  response.on('close', () => held.delete(response))
})
replies.set('silent', (response) => void response.writeHead(200, events).write(role + word))
setInterval(() => held.forEach((response) => response.write(word)), 1_000)

function burst(response: ServerResponse, parts: readonly Buffer[]): void {
  for (const part of parts) response.write(part)
  response.end()
}

async function pace(response: ServerResponse, parts: readonly Buffer[], paceMs: number): Promise<void> {
  let at = 0
  for await (const _ of ticks(paceMs)) {
    if (at === parts.length || response.destroyed) break
    response.write(parts[at++])
  }
  response.end()
}

const server = createServer((request, response) => {
  response.on('error', () => undefined)
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const head = Buffer.concat(pieces).toString('latin1', 0, 256)
    const scenario = /"model": ?"(?:[^"]*:)?([^"]*)"/.exec(head)?.[1] ?? ''
    const reply = replies.get(scenario)
    if (reply === undefined) response.writeHead(404).end()
    else reply(response)
  })
})
server.keepAliveTimeout = 60_000

serveParent({
  listen: () =>
    new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', 4096, () => resolve((server.address() as AddressInfo).port))
    }),
})
