/** What vendors and clients receive is what was recorded; see `run.ts`, which records it and shows what differs. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { long } from '../long.ts'
import { cells, nameOf, runCells } from './cells.ts'
import { classOf } from './classes.ts'
import { Digests } from './digests.ts'
import { treeAt } from './tree.ts'

/** A prime, so that the sample has cells of all clients, vendors and features. */
const stride = 53

test('requests at vendors and answers at clients are as recorded in digests.json, and nothing is lost silently', async () => {
  const digests = Digests.read()
  const differing: string[] = []
  const lost: string[] = []
  const tree = await treeAt(fileURLToPath(new URL('../..', import.meta.url)))
  await runCells(tree, long ? cells : cells.filter((_, index) => index % stride === 0), (cell, traffic) => {
    const sides = digests.differs(cell, traffic)
    if (sides !== '') differing.push(`${nameOf(cell)}: ${sides}`)
    // The demo's answers follow rules of its own.
    const [became, reason] = cell.vendor === 'demo' ? ['right', ''] : classOf(cell, traffic)
    if (became === 'lost' || became === 'wrong') lost.push(`${became}: ${nameOf(cell)}: ${reason}`)
  })
  expect(differing).toEqual([])
  expect(lost).toEqual([])
})

test('each recorded cell still exists', () => {
  const known = new Set(cells.map(({ client, vendor, feature }) => `${client} ${vendor} ${feature.name}`))
  expect(Digests.recorded().filter((name) => !known.has(name))).toEqual([])
})
