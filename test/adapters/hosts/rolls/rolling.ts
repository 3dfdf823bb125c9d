/** Rolling deploys of a cluster of two workers under load. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import OpenAI from 'openai'
import { sourceFlags } from '../../../source-flags.ts'

export interface Rolling {
  readonly host: 'express' | 'koa'
  readonly rolls: number
  /** Minimum number of requests per client and roll; more if a roll takes longer. */
  readonly requests: number
  readonly perSecond: number
  readonly idleMs: number
}

export interface Rolled {
  /** The official client, which retries by default. */
  readonly official: { readonly sent: number; readonly failed: string[] }
  /** A client that never retries. */
  readonly plain: { readonly sent: number; readonly failed: string[] }
  /** Exit codes of the replaced workers. */
  readonly codes: unknown[]
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function roll({ host, rolls, requests, perSecond, idleMs }: Rolling): Promise<Rolled> {
  const port = await freePort()
  const primary = fork(new URL('primary.ts', import.meta.url), {
    execArgv: [...sourceFlags],
    env: { ...process.env, PORT: String(port), HOST: host, IDLE_MS: String(idleMs) },
  })
  await once(primary, 'message')
  const url = `http://127.0.0.1:${port}`
  const official = { sent: 0, failed: [] as string[] }
  const plain = { sent: 0, failed: [] as string[] }
  const codes: unknown[] = []
  const client = new OpenAI({ baseURL: `${url}/ai/v1`, apiKey: 'sk-demo' })
  const agent = new Agent({ keepAlive: true })
  const calls: Promise<void>[] = []
  const track = (count: { sent: number; failed: string[] }, call: Promise<unknown>) => {
    count.sent++
    calls.push(call.then(ignore, (error: unknown) => void count.failed.push(String(error))))
  }
  try {
    for (let round = 0; round < rolls; round++) {
      primary.send('roll')
      const before = codes.length
      const ended = once(primary, 'message').then(([message]) => {
        codes.push(...(message as { rolled: unknown[] }).rolled)
      })
      for (let index = 0; index < requests || codes.length === before; index++) {
        track(official, ask(client, index))
        track(plain, index % 3 === 0 ? get(agent, `${url}/own`) : post(agent, `${url}/ai/v1/chat/completions`, index))
        await pause(1000 / perSecond)
      }
      await ended
    }
    await Promise.all(calls)
  } finally {
    agent.destroy()
    const ended = once(primary, 'exit')
    primary.disconnect()
    await ended
  }
  return { official, plain, codes }
}

const messages = (count: number) => [{ role: 'user' as const, content: `Count from 1 to ${count}` }]

/** A non-streaming response, or a stream of up to one second. */
async function ask(client: OpenAI, index: number): Promise<void> {
  const body = { model: 'demo', messages: messages(1 + (index % 50)) }
  if (index % 2 === 0) return void (await client.chat.completions.create(body))
  let finished = false
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
    finished ||= chunk.choices[0]?.finish_reason === 'stop'
  }
  if (!finished) throw new Error('the stream was truncated')
}

const get = (agent: Agent, url: string) => send(agent, url, undefined)

const post = (agent: Agent, url: string, index: number) =>
  send(agent, url, JSON.stringify({ model: 'demo', messages: messages(1 + (index % 20)), stream: index % 2 === 0 }))

function send(agent: Agent, url: string, body: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer sk-demo', 'content-type': 'application/json' }
    const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
      answer.resume()
      answer.on('error', reject)
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`))))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function ignore(): void {}
