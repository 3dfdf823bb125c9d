/** Writes the results of a run into the README, between its two `bench` marks. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Sample } from './costs.ts'
import type { Added } from './latency.ts'
import { commit, machine } from './machine.ts'
import type { Held } from './memory.ts'
import { median, quantile } from './table.ts'
import type { Kind } from './subjects.ts'

export interface Results {
  readonly samples: readonly Sample[]
  readonly latency: readonly Added[]
  /** Requests per second of the measurement of latency. */
  readonly perSecond: number
  readonly memory: readonly Held[]
  /** The name of the row of a kind of server. */
  readonly nameOf: (kind: Kind) => string
  /** The load average before and after the run. */
  readonly loads: readonly string[]
}

const file = new URL('../../README.md', import.meta.url)

const columns = {
  json: 'non-streaming response',
  sse50: 'chunk, 50 at once',
  sse500: 'chunk, 500 at once',
  paced: 'chunk every 20 ms',
  messages: '200 kB of messages',
  vectors: '16 embeddings',
} as const

const rows: Partial<Record<Kind, string>> = {
  express: 'modelhatch in Express 5',
  metered: 'with rate limits and prices',
  koa: 'modelhatch in Koa 3',
  proxy: '`http-proxy-middleware` in Express 5',
  'by-hand': 'a route of your own with the `openai` package',
}

/** The text between the marks. Throws an error that says which measurement is missing. */
export function summaryOf({ samples, latency, perSecond, memory, nameOf, loads }: Results): string {
  const ratiosOf = (kind: Kind, column: string) =>
    samples.filter((each) => each.row === nameOf(kind) && each.column === column).map(({ ratio }) => ratio)
  const cell = (kind: Kind, column: string) => {
    const found = ratiosOf(kind, column)
    if (found.length === 0) throw new Error(`--readme needs the column ${column} of ${nameOf(kind)}`)
    return median(found).toFixed(1)
  }
  const kinds = Object.keys(rows) as Kind[]
  const table = [
    ['server CPU, relay = 1', ...Object.values(columns)],
    ['---', ...Object.keys(columns).map(() => '---')],
    ...kinds.map((kind) => [rows[kind], ...Object.keys(columns).map((column) => cell(kind, column))]),
  ].map((cells) => `| ${cells.join(' | ')} |`)
  const spreads = kinds.flatMap((kind) =>
    Object.keys(columns).map((column) => {
      const found = ratiosOf(kind, column)
      return (quantile(found, 0.75) - quantile(found, 0.25)) / 2 / median(found)
    }),
  )
  const added = (kind: Kind) => {
    const found = latency.find(({ name }) => name === nameOf(kind))
    if (found === undefined) throw new Error(`--readme needs the latency of ${nameOf(kind)}`)
    return `${median(found.p50).toFixed(2)} ms (p99 ${median(found.p99).toFixed(2)} ms)`
  }
  const held = (kind: Kind) => {
    const found = memory.find(({ name }) => name === nameOf(kind))
    if (found === undefined) throw new Error(`--readme needs the memory of ${nameOf(kind)}`)
    return `${Math.round(found.rss / 1_000)} kB`
  }
  const [{ streams } = { streams: 0 }] = memory
  return [
    table.join('\n'),
    `At ${perSecond} requests per second the gateway added ${added('express')} to a response, and ${added('metered')} with limits and prices in
memory; the relay ${added('relay')}. Each of ${streams.toLocaleString('en')} open streams with 100 kB of messages took ${held('express')} of memory; with the
relay, ${held('relay')}.`,
    `Measured on ${new Date().toISOString().slice(0, 10)} at ${commit()}, on ${machine()}, with a load of ${loads.join(' before and ')} after.
Medians; half of the rounds were within ±${Math.round(100 * median(spreads))} %.`,
  ].join('\n\n')
}

export function writeReadme(summary: string): void {
  const marks = /(<!-- bench -->\n)[\s\S]*?(\n<!-- \/bench -->)/
  const text = readFileSync(file, 'utf8')
  if (!marks.test(text)) throw new Error('README.md has no bench marks')
  writeFileSync(
    file,
    text.replace(marks, (_, begin: string, end: string) => begin + summary + end),
  )
}
