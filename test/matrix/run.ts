/**
 * `npm run matrix`: runs the cells of the matrix and compares them with the recorded digests.
 *
 *   --write            records the digests instead
 *   --against=COMMIT   compares the bytes with those of another commit, and prints the cells that differ
 *   --only=TEXT        only the cells whose name contains this, such as `chat gemini tool`
 *   --show             prints the bytes of each cell
 *   --summary          counts the cells by what became of the feature; with --only, names those that are not right
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cells, nameOf, runCells, type Traffic } from './cells.ts'
import { classOf, type Class } from './classes.ts'
import { Digests } from './digests.ts'
import { treeAt } from './tree.ts'

const here = fileURLToPath(new URL('../..', import.meta.url))

const { values } = parseArgs({
  options: {
    write: { type: 'boolean' },
    against: { type: 'string' },
    only: { type: 'string', default: '' },
    show: { type: 'boolean' },
    summary: { type: 'boolean' },
    /** Of a child: the tree to run, and the file for its traffic. */
    root: { type: 'string', default: here },
    into: { type: 'string' },
  },
})

const chosen = cells.filter((cell) => nameOf(cell).includes(values.only))
const both = ({ vendor, client }: Pick<Traffic, 'vendor' | 'client'>) => `--- vendor\n${vendor}\n--- client\n${client}`

type Pages = Record<string, Pick<Traffic, 'vendor' | 'client'>>

async function trafficOf(root: string): Promise<Pages> {
  const pages: Pages = {}
  await runCells(await treeAt(root), chosen, (cell, { vendor, client }) => (pages[nameOf(cell)] = { vendor, client }))
  return pages
}

async function compare(): Promise<void> {
  const digests = Digests.read()
  const differing: string[] = []
  await runCells(await treeAt(here), chosen, (cell, traffic) => {
    const differs = digests.differs(cell, traffic)
    if (differs !== '') differing.push(`${nameOf(cell)}: ${differs}`)
    if (values.show) console.log(`${nameOf(cell)}\n${both(traffic)}\n`)
    if (values.write) digests.add(cell, traffic)
  })
  if (values.write) digests.write()
  for (const line of differing.toSorted()) console.log(line)
  console.log(`${differing.length} of ${chosen.length} cells differ from the recorded digests`)
  if (differing.length > 0 && !values.write) process.exitCode = 1
}

async function summarise(): Promise<void> {
  const counts = new Map<string, Record<Class, number>>()
  await runCells(await treeAt(here), chosen, (cell, traffic) => {
    // Its answers follow rules of its own.
    if (cell.vendor === 'demo') return
    const [found, reason] = classOf(cell, traffic)
    for (const row of [`${cell.client} ${cell.vendor}`, `${cell.client} in all`]) {
      const count = counts.get(row) ?? { right: 0, refused: 0, told: 0, lost: 0, wrong: 0 }
      count[found]++
      counts.set(row, count)
    }
    if (values.only !== '' && found !== 'right') console.log(`${found}: ${nameOf(cell)}: ${reason}`)
  })
  console.table(Object.fromEntries(counts))
}

/** Runs the matrix on the sources of a tree, in a process of its own. */
async function inChild(root: string, into: string): Promise<Pages> {
  const script = fileURLToPath(import.meta.url)
  const options = [`--root=${root}`, `--into=${into}`, `--only=${values.only}`]
  const child = spawn(process.execPath, ['--conditions=modelhatch-source', script, ...options], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the matrix failed in ${root}`)
  return JSON.parse(readFileSync(into, 'utf8')) as Pages
}

async function compareWith(commit: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-matrix-'))
  const other = join(folder, 'tree')
  const git = (...words: string[]) => execFileSync('git', words, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    git('worktree', 'add', '--detach', other, commit)
    symlinkSync(join(here, 'node_modules'), join(other, 'node_modules'))
    const [before, now] = await Promise.all([
      inChild(other, join(folder, 'before.json')),
      inChild(here, join(folder, 'now.json')),
    ])
    const differing = Object.keys(now).filter((name) => both(before[name]!) !== both(now[name]!))
    for (const name of differing.toSorted()) {
      for (const side of ['vendor', 'client'] as const) {
        const [old, fresh] = [before[name]![side], now[name]![side]]
        if (old !== fresh) console.log(`=== ${name}: ${side}\n--- ${commit}\n${old}\n--- now\n${fresh}\n`)
      }
    }
    console.log(`${differing.length} of ${chosen.length} cells differ from ${commit}`)
  } finally {
    git('worktree', 'remove', '--force', other)
    rmSync(folder, { recursive: true, force: true })
  }
}

if (values.into !== undefined) writeFileSync(values.into, JSON.stringify(await trafficOf(values.root)))
else if (values.against !== undefined) await compareWith(values.against)
else if (values.summary) await summarise()
else await compare()
