/** The processes of a run: a vendor, the clients, and the servers under test, each started on first use and then warmed. */
import { ownName } from '../servers.ts'
import { Child } from './child.ts'
import type { Answered, Load, Target } from './load.ts'
import type { Plan } from './plan.ts'
import type { Start } from './server.ts'
import { clear } from './stores.ts'
import { crowd, targetOf, type Subject } from './subjects.ts'

export interface Server {
  readonly child: Child
  readonly target: Target
}

/** Shows progress in one line that is overwritten. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(70)}\r`)
}

export class Fleet {
  readonly load = new Child('./load.ts')
  readonly #vendor = new Child('./vendor.ts')
  readonly #plan: Plan
  readonly #servers = new Map<string, Promise<Server>>()
  readonly #stored: [Subject, string][] = []
  #origin: Promise<string> | undefined

  constructor(plan: Plan) {
    this.#plan = plan
  }

  /** The vendor itself, without a server before it. */
  async vendor(): Promise<Target> {
    return { ports: [Number(new URL(await this.origin()).port)], mount: '' }
  }

  origin(): Promise<string> {
    this.#origin ??= this.#vendor.ask<number>('listen').then((port) => `http://127.0.0.1:${port}`)
    return this.#origin
  }

  /** The warm server of a subject, which measurements share. */
  server(subject: Subject): Promise<Server> {
    const id = `${subject.kind} ${subject.node ?? ''}`
    let server = this.#servers.get(id)
    if (server === undefined) this.#servers.set(id, (server = this.start(subject)))
    return server
  }

  /** Starts and warms a server. `name`: of its data, for servers that share them; deleting them is then the caller's. */
  async start(subject: Subject, name: string = this.#nameFor(subject)): Promise<Server> {
    const { kind, node } = subject
    const child = new Child('./server.ts', [], node)
    const start: Start = { kind, name, vendor: await this.origin() }
    const target = targetOf(kind, await child.ask<number>('listen', start))
    if (kind === 'crowded') await this.load.ask('hold', { ...target, count: crowd.places, bytes: 100, silent: true })
    const { warmMs, columns } = this.#plan
    // The engine compiles a busy server in tiers, and each kind of request takes other paths.
    const forMs = Math.max(warmMs / columns.length, warmMs / 5)
    for (const { name: scenario } of columns) {
      progress(`warming ${subject.name}: ${scenario}`)
      await this.load.ask<Answered>('run', { ...target, scenario, model: scenario, forMs } satisfies Load)
    }
    return { child, target }
  }

  async stop(server: Server): Promise<void> {
    await server.child.ask('close')
    server.child.stop()
  }

  /** Stops the servers that measurements have shared. */
  async stopServers(): Promise<void> {
    await this.load.ask('release')
    for (const server of this.#servers.values()) await this.stop(await server)
    this.#servers.clear()
  }

  async close(): Promise<void> {
    await this.stopServers()
    this.#vendor.stop()
    this.load.stop()
    for (const [{ kind }, name] of this.#stored) await clear(kind, name)
  }

  #nameFor(subject: Subject): string {
    const name = ownName()
    this.#stored.push([subject, name])
    return name
  }
}
