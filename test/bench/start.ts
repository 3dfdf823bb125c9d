/**
 * `npm run bench:start`: what the package weighs, and what the quick start for Express costs: the time of its imports, in fresh
 * processes and relative to those of express, zod and undici alone in the same run, and the memory of its process.
 */
import { installPacked } from '../packed/packed.ts'

interface Measured {
  readonly ms: number
  readonly mib: number
}

const quickStart = ['express', 'modelhatch', 'modelhatch/express', 'modelhatch/providers']
const alone = ['express', 'zod', 'undici']

const program = `
const names = process.argv.slice(2)
const began = performance.now()
const modules = []
for (const name of names) modules.push(await import(name))
const ms = performance.now() - began
const print = () => console.log(JSON.stringify({ ms, mib: process.memoryUsage.rss() / 2 ** 20 }))
if (!names.includes('modelhatch')) print()
else {
  const [{ default: express }, { createGateway }, { mount }, { demo }] = modules
  const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { demo: demo() } })
  express().use('/ai', mount(gateway)).listen(0, '127.0.0.1', () => (print(), process.exit()))
}
`

/** The median, as long as neighbours on the machine disturb less than half of the runs. */
function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

const consumer = await installPacked()
try {
  consumer.write('start.mjs', program)
  const measure = async (names: readonly string[]) => JSON.parse(await consumer.node('start.mjs', ...names)) as Measured
  const runs: { readonly base: Measured; readonly ours: Measured }[] = []
  for (let run = -1; run < 15; run++) {
    const pair = { base: await measure(alone), ours: await measure(quickStart) }
    // The first pair reads the files from the disk.
    if (run >= 0) runs.push(pair)
  }
  const base = middle(runs.map((run) => run.base.ms))
  const ours = middle(runs.map((run) => run.ours.ms))
  const mib = middle(runs.map((run) => run.ours.mib))
  console.log(`package: ${consumer.files.size} files, ${Math.round(consumer.bytes / 1000)} kB packed`)
  console.log(
    `imports: ${ours.toFixed(0)} ms, ${(ours / base).toFixed(2)} times the ${base.toFixed(0)} ms of ${alone.join(', ')}`,
  )
  console.log(`memory:  ${mib.toFixed(0)} MiB once the server listens`)
} finally {
  consumer.remove()
}
