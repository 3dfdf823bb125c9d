/** Controls the process under attack: starts it, queries its state, and restarts it if it dies. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Receipt } from 'modelhatch'
import type { Places, Ports } from './places.ts'
import type { Turns } from './turns.ts'
import { sourceFlags } from '../source-flags.ts'

/** Milliseconds of CPU after which a process without a response hangs, and of real time if its CPU time is unknown. */
const hangCpuMs = 5_000
const hangMs = 60_000

export class Attacked {
  /** Faults found so far. */
  readonly faults: string[] = []
  readonly receipts: Receipt[] = []
  ports!: Ports
  /** Called after each turn of the event loop that took too long. */
  slow = (): void => undefined
  readonly #places: Places
  #child!: ChildProcess
  #calls = 0
  #wake = (): void => undefined
  readonly #called: string[] = []

  private constructor(places: Places) {
    this.#places = places
  }

  static async start(places: Places): Promise<Attacked> {
    const attacked = new Attacked(places)
    await attacked.#start()
    return attacked
  }

  turns(): Promise<Turns> {
    return this.#ask<Turns>({ ask: 'turns' })
  }

  /** Milliseconds of CPU that the process takes for the reference work. */
  reference(): Promise<number> {
    return this.#ask<number>({ ask: 'reference' })
  }

  async account(account: string): Promise<{ balance: bigint; held: bigint }> {
    const { balance, held } = await this.#ask<{ balance: string; held: string }>({ ask: 'account', account })
    return { balance: BigInt(balance), held: BigInt(held) }
  }

  /** Resolves with the next message of the process, or after a second. */
  nextReceipt(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, 1_000).unref()
    })
  }

  /** Resolves when the model has been called, once per call. */
  async modelCalled(model: string): Promise<void> {
    const end = performance.now() + 20_000
    while (!this.#called.includes(model) && performance.now() < end) await this.nextReceipt()
    this.#called.splice(this.#called.indexOf(model), 1)
  }

  /** The result of `work`. If the process hangs or dies first, adds a fault, restarts it and returns undefined. */
  async within<T>(what: string, work: Promise<T>): Promise<T | undefined> {
    const child = this.#child
    const cpu = cpuMs(child)
    const began = performance.now()
    const late = Promise.withResolvers<string>()
    const watch = setInterval(() => {
      const died = child.exitCode ?? child.signalCode
      if (died !== null) late.resolve(`the process ended with ${died}`)
      else if (cpuMs(child) - cpu > hangCpuMs || performance.now() - began > hangMs) late.resolve('no response')
    }, 100)
    try {
      const done = await Promise.race([work.then((value) => ({ value })), late.promise])
      if (typeof done !== 'string') return done.value
      this.faults.push(`${what}: ${done}`)
      if (child === this.#child) await this.#restart()
      return undefined
    } finally {
      clearInterval(watch)
      // Its later result does not matter.
      work.catch(() => undefined)
    }
  }

  end(): Promise<void> {
    return this.#kill()
  }

  async #restart(): Promise<void> {
    await this.#kill()
    await this.#start()
  }

  async #kill(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  async #start(): Promise<void> {
    const execArgv = [...sourceFlags, '--disable-warning=ExperimentalWarning', '--max-old-space-size=768']
    const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [JSON.stringify(this.#places)], {
      execArgv,
    })
    this.#child = child
    child.on('message', ({ receipt, called, slow }: { receipt?: Receipt; called?: string; slow?: true }) => {
      if (receipt !== undefined) this.receipts.push(receipt)
      if (called !== undefined) this.#called.push(called)
      if (slow === true) this.slow()
      this.#wake()
    })
    const died = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`the process ended with ${String(code ?? signal)} before it served`)
    })
    died.catch(() => undefined)
    const [{ ports }] = (await Promise.race([once(child, 'message'), died])) as [{ ports: Ports }]
    this.ports = ports
  }

  #ask<Answer>(question: object): Promise<Answer> {
    const id = ++this.#calls
    const child = this.#child
    return new Promise((resolve, reject) => {
      const died = () => reject(new Error('the process has ended'))
      const take = (message: { id?: number; answer?: Answer }) => {
        if (message.id !== id) return
        child.off('message', take).off('exit', died)
        resolve(message.answer as Answer)
      }
      child.on('message', take).once('exit', died)
      child.send({ id, ...question })
    })
  }
}

/** CPU time of all threads of a process; 0 if unknown. */
function cpuMs({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return 0
  }
}
