import { Worker } from 'node:worker_threads'
import type { Load, Result } from './worker.ts'

/** Runs a load in a thread of its own, because it replaces clocks and timers. */
export function measure(load: Load): Promise<Result> {
  return new Promise((resolve, reject) => {
    const execArgv = ['--conditions=modelhatch-source', '--disable-warning=ExperimentalWarning']
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: load, execArgv })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

/** Jain's index: 1 if all have the same, 1 / n if one has all. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0)
  return sum ** 2 / (values.length * values.reduce((total, value) => total + value ** 2, 0))
}

export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * part)] ?? Number.NaN
}
