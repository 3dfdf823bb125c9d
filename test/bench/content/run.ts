/**
 * `npm run bench -- --content`: the latency of calls at a fixed rate while their content is kept, and while its store is stopped, as a
 * multiple of that without. All gateways are in one process and measured in turns. `--rounds`, `--slot` (ms), `--rate` (calls a second).
 */
import { Child } from '../child.ts'
import type { Answered, Rate } from '../load.ts'
import { about } from '../machine.ts'
import { print, quantile } from '../table.ts'

const kinds = ['off', 'memory', 'stopped'] as const

export type ContentKind = (typeof kinds)[number]

interface Counts {
  readonly written: number
  readonly dropped: number
  readonly waiting: number
}

async function main(): Promise<void> {
  const numberOf = (name: string, otherwise: number) =>
    Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise)
  const [rounds, forMs, perSecond] = [numberOf('rounds', 12), numberOf('slot', 2_000), numberOf('rate', 300)]
  const [vendor, load, server] = ['./vendor.ts', './load.ts', './content/server.ts'].map((file) => new Child(file)) as [
    Child,
    Child,
    Child,
  ]
  const origin = `http://127.0.0.1:${await vendor.ask<number>('listen')}`
  const port = await server.ask<number>('listen', { vendor: origin })
  const calls = new Map<ContentKind, number>()
  const measure = async (kind: ContentKind) => {
    const before = await server.ask<number>('cpu')
    const rate: Rate = { ports: [port], mount: `/${kind}`, scenario: 'json', perSecond, forMs }
    const answered = await load.ask<Answered>('rate', rate)
    calls.set(kind, (calls.get(kind) ?? 0) + answered.requests)
    const cpu = ((await server.ask<number>('cpu')) - before) / answered.requests
    return { p50: answered.p50, p99: answered.p99, cpu }
  }
  type Measured = Awaited<ReturnType<typeof measure>>

  console.log(about())
  for (const kind of kinds) await measure(kind)
  const all = new Map<ContentKind, Measured[]>(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++)
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[(at + round) % kinds.length] as ContentKind
      all.get(kind)?.push(await measure(kind))
    }
  const rows = []
  for (const kind of kinds) {
    const measured = all.get(kind) ?? []
    const cell = (name: keyof Measured, unit: string, digits: number) => {
      const ratios = measured.map((each, at) => each[name] / (all.get('off')?.[at]?.[name] ?? Number.NaN))
      const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2))
      const median = quantile(
        measured.map((each) => each[name]),
        0.5,
      )
      return `${median.toFixed(digits)} ${unit}, × ${middle} (${low}–${high})`
    }
    const counts = (await server.ask<Counts | undefined>('counts', kind)) ?? undefined
    const sum =
      counts === undefined ? '' : `${counts.written} + ${counts.dropped} + ${counts.waiting} = ${calls.get(kind)}`
    rows.push([kind, cell('p50', 'ms', 2), cell('p99', 'ms', 2), cell('cpu', 'µs', 0), sum])
  }
  print([[`${perSecond} calls a second`, 'p50', 'p99', 'CPU', 'written + dropped + waiting = calls'], ...rows])
  for (const child of [vendor, load, server]) child.stop()
}

await main()
