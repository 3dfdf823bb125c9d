/**
 * `npm run bench:fair`: ten accounts at one vendor's key, one of which sends ten times as much as each of the others, in
 * virtual time: how the limit is shared, how much of it is used, and what the vendor refuses.
 */
import { print } from '../table.ts'
import { jain, measure, percentile } from './measure.ts'

/** Processes, and calls a second that the vendor accepts. */
const sizes = [
  [1, 25],
  [24, 100],
] as const
/** Twice the limit together; each of the others asks for a little more than a tenth of it. */
const flood = [1.05, ...Array.from({ length: 9 }, () => 0.105)]
/** Twice the limit together; the others ask for half of a tenth. */
const modest = [1.55, ...Array.from({ length: 9 }, () => 0.05)]

/** The middle of three. */
const seeds = [1, 2, 3] as const
const spread = (values: readonly string[]) => {
  const [least, middle, most] = values.toSorted((left, right) => Number.parseFloat(left) - Number.parseFloat(right))
  return `${middle} (${least} to ${most})`
}

const percent = (part: number) => `${(part * 100).toFixed(2)} %`
const head = [
  'processes',
  "Jain's index",
  'p95 of the others, of that without the flood',
  'refused by the vendor',
  'limit used',
]
const rows: string[][] = []
for (const [processes, limit] of sizes) {
  const common = { processes, limit, seconds: 60 }
  const ask = (
    parts: readonly number[],
    isFair: boolean,
    hasHeaders: boolean,
    isShared: boolean,
    seed: number = seeds[0],
  ) => measure({ ...common, isFair, hasHeaders, isShared, seed, rates: parts.map((part) => part * limit) })
  const p95 = ({ ms }: Awaited<ReturnType<typeof ask>>) => percentile(ms.slice(1).flat(), 0.95)
  const unloaded = await ask([0, ...modest.slice(1)], false, true, false)
  for (const [name, isFair, hasHeaders, isShared] of [
    ['without the option', false, true, false],
    ['vendor with headers', true, true, false],
    ['vendor without headers', true, false, false],
    ['the same with a common limit store', true, false, true],
  ] as const) {
    const all = await Promise.all(seeds.map((seed) => ask(flood, isFair, hasHeaders, isShared, seed)))
    const loaded = await ask(modest, isFair, hasHeaders, isShared)
    const answered = loaded.ms.slice(1).flat().length / loaded.asked.slice(1).reduce((sum, calls) => sum + calls, 0)
    rows.push([
      `${processes}, ${name}`,
      spread(all.map(({ tokens }) => jain(tokens).toFixed(3))),
      `${(p95(loaded) / p95(unloaded)).toFixed(2)}, ${percent(answered)} answered`,
      spread(all.map((each) => percent(each.refused / (each.refused + each.answered)))),
      spread(all.map(({ used }) => percent(used))),
    ])
  }
}
print([head, ...rows])
