/**
 * `npm run simulate -- --seeds=N`: runs N histories and prints what was violated.
 *
 * --seeds=200, --seeds=1..200  which histories
 * --stores=memory,sqlite       on which stores, in turn; also `postgres`, in this process
 * --threads=1                  how many at a time
 * --journal=FILE               notes there which histories have ended, and leaves out those that it names
 * --show                       shrinks the first violation, and prints what happened in it
 * --faults[=text]              plants each fault (whose name contains the text) and prints in how many histories it is found
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { faults } from './faults.ts'
import type { Kind } from './stores.ts'
import { inThread, Thread } from './threads.ts'
import type { Report, Work } from './worker.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).map((word) => (word === '--faults' ? '--faults=' : word)),
  options: {
    seeds: { type: 'string', default: '200' },
    stores: { type: 'string', default: 'memory,sqlite' },
    threads: { type: 'string', default: '1' },
    journal: { type: 'string' },
    show: { type: 'boolean', default: false },
    faults: { type: 'string' },
  },
})
const [first = 1, last = 0] = (values.seeds.includes('..') ? values.seeds : `1..${values.seeds}`)
  .split('..')
  .map(Number)
const threads = Number(values.threads)
const kinds = values.stores.split(',') as Kind[]
/** Histories from one report of a thread to the next. */
const share = 500

/** What a journal notes of the histories from one seed on. */
interface Ended extends Pick<Report, 'histories' | 'steps' | 'requests'> {
  readonly from: number
  readonly violations: number
}

/** Runs all work, `threads` at a time, and reports each as it ends. */
async function each(works: readonly Work[], ended: (report: Report, work: Work) => void): Promise<void> {
  const left = [...works]
  const next = async () => {
    const thread = new Thread()
    for (let work = left.shift(); work !== undefined; work = left.shift()) {
      ended(await (work.fault === undefined ? thread.run(work) : inThread(work)), work)
    }
    await thread.end()
  }
  await Promise.all(Array.from({ length: threads }, next))
}

/** The reports of a journal, by the first seed of each. */
function journalled(file: string): Map<number, Ended> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const ended = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Ended)
  return new Map(ended.map((each) => [each.from, each]))
}

async function simulate(): Promise<void> {
  const { journal, show } = values
  const known = journal === undefined ? new Map<number, Ended>() : journalled(journal)
  const works: Work[] = []
  for (let from = first; from <= last; from += share) {
    const seeds = Math.min(share, last + 1 - from)
    if (known.get(from)?.histories !== seeds) works.push({ kinds, from, seeds, shrinks: show })
  }
  const all = [...known.values()]
  const begun = performance.now()
  let [newest, steps] = [0, 0]
  await each(works, (report, { from }) => {
    const { found, shortest, isRepeatable, ...counts } = report
    if (!isRepeatable) throw new Error(`seed ${from} did not repeat itself`)
    const ended = { from, ...counts, violations: found.length }
    all.push(ended)
    newest += ended.histories
    steps += ended.steps
    for (const { seed, kind, message } of found) console.log(`seed ${seed} on ${kind}: ${message}`)
    if (shortest !== undefined) console.log(`${shortest.plan}\n${shortest.log.join('\n')}`)
    if (journal !== undefined) appendFileSync(journal, `${JSON.stringify(ended)}\n`)
  })
  const seconds = (performance.now() - begun) / 1_000
  const sum = (name: 'histories' | 'steps' | 'requests' | 'violations') =>
    all.reduce((total, ended) => total + ended[name], 0)
  console.log(
    `${sum('histories')} histories on ${kinds.join(', ')}, ${sum('steps')} steps, ${sum('requests')} requests`,
  )
  console.log(`${Math.round(newest / seconds)} histories and ${Math.round(steps / seconds)} steps a second`)
  console.log(`${sum('violations')} violations`)
  if (sum('violations') > 0) process.exitCode = 1
}

async function plantAll(text: string): Promise<void> {
  const chosen = faults.filter(({ name }) => name.includes(text))
  const works = chosen.map((fault): Work => ({ kinds: [fault.kind], from: first, seeds: last + 1 - first, fault }))
  let missed = 0
  console.log(`| planted fault | in | found in seeds of ${last + 1 - first} | first as |\n| --- | --- | --- | --- |`)
  await each(works, ({ found }, { fault }) => {
    if (found.length === 0) missed++
    const as = found[0]?.message.replace(/: .*/s, '') ?? ''
    console.log(`| ${fault?.name} | \`${fault?.file}\` | ${found.length} | ${as} |`)
  })
  console.log(`${chosen.length} faults, ${missed} not found`)
  if (missed > 0) process.exitCode = 1
}

await (values.faults === undefined ? simulate() : plantAll(values.faults))
