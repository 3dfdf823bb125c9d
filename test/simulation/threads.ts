import { Worker } from 'node:worker_threads'
import type { Report, Work } from './worker.ts'

/** Runs histories in a thread of its own, because it replaces clocks and timers. */
export function inThread(work: Work): Promise<Report> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), {
      workerData: work,
      execArgv: ['--conditions=modelhatch-source', '--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxYoungGenerationSizeMb: 64 },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code}`)))
  })
}
