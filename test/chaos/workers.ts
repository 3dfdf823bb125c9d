/** Starts and controls worker processes. */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Place } from '../bundles.ts'
import type { Work } from './worker.ts'
import { sourceFlags } from '../source-flags.ts'

const path = fileURLToPath(new URL('worker.ts', import.meta.url))

export class Worker {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** The worker's clock is `clockMs` milliseconds fast. */
  static async start(place: Place, clockMs = 0): Promise<Worker> {
    const child = fork(path, [JSON.stringify({ ...place, clockMs })], {
      execArgv: [...sourceFlags, '--disable-warning=ExperimentalWarning'],
    })
    const worker = new Worker(child)
    await worker.#message('ready')
    return worker
  }

  async ask<Answer>(work: Work): Promise<Answer> {
    const answer = this.#message('answer')
    this.#child.send(work)
    return (await answer) as Answer
  }

  /** Starts work that never ends. Resolves when it has begun. */
  async begin(work: Work): Promise<void> {
    const begun = this.#message('begun')
    this.#child.send(work)
    await begun
  }

  async kill(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await exited
  }

  async end(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.send('end')
    await exited
  }

  #message(name: 'ready' | 'begun' | 'answer'): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const take = (message: Record<string, unknown>) => {
        if (!(name in message) && !('error' in message)) return
        this.#child.off('message', take).off('exit', died)
        if ('error' in message) reject(new Error(String(message['error'])))
        else resolve(message[name])
      }
      const died = (code: number | null) => reject(new Error(`the worker ended with ${code}`))
      this.#child.on('message', take).on('exit', died)
    })
  }
}
