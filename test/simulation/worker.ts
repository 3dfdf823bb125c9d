/** A thread that runs histories in virtual time, with or without a planted fault. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import type { Fault } from './faults.ts'
import type { planOf, Run } from './history.ts'
import type { Kind } from './stores.ts'

export interface Work {
  /** Taken in turn. */
  readonly kinds: readonly Kind[]
  readonly from: number
  readonly seeds: number
  readonly fault?: Fault
  /** Stops at the first violation. */
  readonly stops?: boolean
  /** Shrinks the first violation, and reports what happened in it. */
  readonly shrinks?: boolean
}

export interface Found {
  readonly seed: number
  readonly kind: Kind
  readonly message: string
}

export interface Report {
  readonly histories: number
  readonly steps: number
  readonly requests: number
  readonly found: readonly Found[]
  /** Whether the first history, run again after all others, was the same. */
  readonly isRepeatable: boolean
  /** The shortest plan of the first violation, and its log. */
  readonly shortest?: { readonly events: number; readonly plan: string; readonly log: readonly string[] }
}

const root = new URL('../../', import.meta.url)

/** Changes one file as it is loaded. */
function plant({ name, file, find, replace }: Fault): void {
  const url = new URL(file, root).href
  const source = readFileSync(fileURLToPath(url), 'utf8')
  const parts = source.split(find)
  if (parts.length !== 2)
    throw new Error(`the fault "${name}" does not fit ${file} any more: ${parts.length - 1} places`)
  registerHooks({
    load: (wanted, context, next) => {
      const loaded = next(wanted, context)
      return wanted === url ? { ...loaded, source: parts.join(replace) } : loaded
    },
  })
}

/** Postgres without a server. Its clock is this thread's. */
async function postgresInThisThread() {
  const { PGlite } = await import('@electric-sql/pglite')
  return PGlite.create()
}

/** What the thread has loaded. */
interface Loaded {
  readonly run: Run
  readonly planOf: typeof planOf
}

/** Loads the sources, and replaces the clocks of this thread. */
async function load({ kinds, from, fault, shrinks = false }: Work): Promise<Loaded> {
  if (fault !== undefined) plant(fault)
  const database = kinds.includes('postgres') ? await postgresInThisThread() : undefined
  const { install } = await import('./scheduler.ts')
  const { planOf, runOn } = await import('./history.ts')
  install()
  // Histories make many errors on purpose; without stack traces they cost less.
  if (!shrinks) Error.stackTraceLimit = 0
  const run = runOn(database)
  // The first statements of a database without a server take other turns of the event loop than the same ones later.
  if (database !== undefined) await run(planOf(from), 'postgres')
  return { run, planOf }
}

let loading: Promise<Loaded> | undefined

async function work(wanted: Work): Promise<Report> {
  const { kinds, from, seeds, stops = false, shrinks = false } = wanted
  const { run, planOf } = await (loading ??= load(wanted))
  const report = { histories: 0, steps: 0, requests: 0, found: [] as Found[] }
  let shortest: Report['shortest']
  let first: string | undefined
  const kindOf = (seed: number) => kinds[seed % kinds.length] as Kind
  for (let seed = from; seed < from + seeds; seed++) {
    const kind = kindOf(seed)
    const plan = planOf(seed)
    const { violation, steps, requests, digest } = await run(plan, kind)
    first ??= digest
    report.histories++
    report.steps += steps
    report.requests += requests
    if (violation === undefined) continue
    report.found.push({ seed, kind, message: violation.message })
    if (shrinks && shortest === undefined) {
      const { shrink } = await import('./shrink.ts')
      const fails = async (shorter: typeof plan) =>
        (await run(shorter, kind)).violation?.invariant === violation.invariant
      const short = await shrink(plan, fails)
      shortest = {
        events: short.events.length,
        plan: JSON.stringify(short, undefined, 1),
        log: (await run(short, kind, true)).log,
      }
    }
    if (stops) break
  }
  const isRepeatable = (await run(planOf(from), kindOf(from))).digest === first
  return { ...report, isRepeatable, ...(shortest && { shortest }) }
}

parentPort?.on('message', (wanted: Work) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
  void work(wanted).then((report) => parentPort?.postMessage(report))
})
