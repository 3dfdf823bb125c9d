import { Worker } from 'node:worker_threads'
import type { Report, Work } from './worker.ts'
import { sourceFlags } from '../source-flags.ts'

/** A thread that runs histories, because it replaces clocks and timers. It loads the sources once, and becomes faster as it runs. */
export class Thread {
  readonly #worker = new Worker(new URL('worker.ts', import.meta.url), {
    execArgv: [...sourceFlags, '--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  })

  /** One work at a time. The fault of the first one stays planted. */
  run(work: Work): Promise<Report> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>()
    this.#worker.removeAllListeners().once('message', resolve).once('error', reject)
    this.#worker.once('exit', (code) => reject(new Error(`the thread ended with ${code}`)))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
    this.#worker.postMessage(work)
    return promise
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Runs histories in a thread of their own. */
export async function inThread(work: Work): Promise<Report> {
  const thread = new Thread()
  try {
    return await thread.run(work)
  } finally {
    await thread.end()
  }
}
