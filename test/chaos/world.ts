/** The parts of a chaos run that are not killed: the vendor, the clients, and the loop that kills the gateways. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { VideoProvider } from '../../src/providers/index.ts'
import { sourceFlags } from '../source-flags.ts'

export interface Run {
  readonly kind: VideoProvider['submit']
  readonly store: 'postgres' | 'redis'
  readonly connection: string
  readonly prefix: string
  readonly tasks: number
  readonly kills: number
}

export interface Outcome {
  readonly states: Record<string, number>
  /** The number of vendor jobs per task. */
  readonly jobs: Map<string, number>
  /** Tasks by id. */
  readonly tasks: Map<string, { status: string; error?: string }>
  readonly orphansReported: Set<string>
  readonly lost: number
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A vendor with random delays before it accepts a job and before it responds. */
async function openVendor(kind: Run['kind']) {
  const jobs: { token: string; startedAt: number }[] = []
  const server = createServer((request, response) => {
    const answer = (body: object, status = 200) => {
      if (!response.destroyed)
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const [, place, name = ''] = (request.url ?? '').split('/')
    if (request.method === 'POST') {
      let text = ''
      request.on('data', (piece: Buffer) => (text += piece.toString()))
      request.on('error', () => undefined)
      request.on('end', () => {
        const { token } = JSON.parse(text) as { token: string }
        setTimeout(() => {
          const known = kind === 'token' ? jobs.findIndex((job) => job.token === token) : -1
          const id = known >= 0 ? known : jobs.push({ token, startedAt: Date.now() }) - 1
          setTimeout(() => answer({ id: String(id) }), Math.random() * 60)
        }, Math.random() * 60)
      })
    } else if (place === 'tokens') {
      const id = jobs.findIndex((job) => job.token === name)
      answer({ id: String(id) }, id < 0 ? 404 : 200)
    } else {
      const job = jobs[Number(name)]
      answer({ done: job !== undefined && Date.now() - job.startedAt > 500 }, job === undefined ? 404 : 200)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, jobs, close }
}

/** A gateway process that is restarted whenever it dies. */
export class Instance {
  #child: ChildProcess | undefined
  #port: Promise<number> | undefined
  #ended = false
  readonly #settings: string
  readonly #orphan: (id: string) => void
  readonly #file: string

  constructor(settings: object, orphan: (id: string) => void, file = 'gateway.ts') {
    this.#settings = JSON.stringify(settings)
    this.#file = file
    this.#orphan = orphan
    this.#start()
  }

  get port(): Promise<number> {
    return this.#port as Promise<number>
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  async end(): Promise<void> {
    this.#ended = true
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'exit')
    child.kill('SIGKILL')
    await closed
  }

  #start(): void {
    const path = fileURLToPath(new URL(this.#file, import.meta.url))
    const child = fork(path, [this.#settings], { execArgv: [...sourceFlags], stdio: 'ignore' })
    this.#child = child
    this.#port = new Promise((resolve) => {
      child.on('message', ({ port, orphan: id }: { port?: number; orphan?: string }) => {
        if (port !== undefined) resolve(port)
        if (id !== undefined) this.#orphan(id)
      })
    })
    child.once('exit', () => {
      if (!this.#ended) this.#start()
    })
  }
}

/** Runs until all tasks have ended. */
export async function play(run: Run): Promise<Outcome> {
  const vendor = await openVendor(run.kind)
  const orphansReported = new Set<string>()
  const settings = { ...run, vendor: vendor.url }
  const orphan = (id: string) => void orphansReported.add(id)
  const instances = [new Instance(settings, orphan), new Instance(settings, orphan)]
  try {
    const ask = async (
      turn: number,
      path: string,
      init: { method?: string; body?: string; headers?: Record<string, string> } = {},
    ): Promise<{ status: number; body: Record<string, string> }> => {
      const port = await (instances[turn % 2] as Instance).port
      const headers = { authorization: 'Bearer sk-chaos', 'content-type': 'application/json', ...init.headers }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers })
      return { status: response.status, body: (await response.json()) as Record<string, string> }
    }
    const ids: (string | undefined)[] = Array.from({ length: run.tasks })
    const submit = async (index: number) => {
      const body = JSON.stringify({ model: 'film', prompt: `film ${index}` })
      const headers = { 'idempotency-key': `${run.prefix}${run.kind}-${index}` }
      for (let turn = index; turn < index + 200 && ids[index] === undefined; turn++) {
        const answer = await ask(turn, '/v1/videos/generations', { method: 'POST', body, headers }).catch(
          () => undefined,
        )
        ids[index] = answer?.body['id']
        if (ids[index] === undefined) await pause(50)
      }
    }
    let next = 0
    const worker = async () => {
      while (next < run.tasks) await submit(next++)
    }
    let killed = 0
    const submitted = Promise.all(Array.from({ length: 20 }, worker))
    let submitting = true
    void submitted.then(() => (submitting = false))
    while (killed < run.kills) {
      await pause(20 + Math.random() * (submitting ? 150 : 400))
      await (instances[killed % 2] as Instance).port
      ;(instances[killed % 2] as Instance).kill()
      killed++
    }
    await submitted

    const tasks = new Map<string, { status: string; error?: string }>()
    const deadline = Date.now() + 60_000
    while (tasks.size < new Set(ids).size && Date.now() < deadline) {
      for (const [turn, id] of ids.entries()) {
        if (id === undefined || tasks.has(id)) continue
        const { status, body } = await ask(turn, `/v1/videos/generations/${id}`)
        const state = body['status'] ?? String(status)
        if (state !== 'pending' && state !== 'processing')
          tasks.set(id, { status: state, ...(body['error'] && { error: body['error'] }) })
      }
      await pause(100)
    }
    const jobs = new Map<string, number>()
    for (const { token } of vendor.jobs) jobs.set(token, (jobs.get(token) ?? 0) + 1)
    const states: Record<string, number> = {}
    for (const { status } of tasks.values()) states[status] = (states[status] ?? 0) + 1
    return { states, jobs, tasks, orphansReported, lost: ids.filter((id) => id === undefined || !tasks.has(id)).length }
  } finally {
    await Promise.all(instances.map((instance) => instance.end()))
    vendor.close()
  }
}
