/**
 * `npm run bench:in-process -- [DIR …]`: microseconds, promises and allocations of the gateway per request, without
 * sockets, so that it says the same on a busy machine. Every DIR is another checkout to compare with, measured in turns:
 * the lowest of many short slices counts.
 */
import { fileURLToPath } from 'node:url'
import { Child } from '../child.ts'
import { print } from '../table.ts'

const here = fileURLToPath(new URL('../../../', import.meta.url))
const roots = [here, ...process.argv.slice(2)]
const slices = 60

const rows: string[][] = []
for (const scenario of ['json', 'sse50', 'sse500', 'messages']) {
  const children = roots.map((root) => new Child('./in-process/pipeline.ts', [root, scenario]))
  for (const child of children) await child.ask('warm')
  const lowest = children.map(() => Infinity)
  for (let round = 0; round < slices; round++) {
    for (const [index, child] of children.entries()) {
      lowest[index] = Math.min(lowest[index] as number, await child.ask<number>('slice'))
    }
  }
  for (const [index, child] of children.entries()) {
    const { promises, kilobytes } = await child.ask<{ promises: number; kilobytes: number }>('counts')
    rows.push([
      `${scenario}${index === 0 ? '' : `, ${roots[index]}`}`,
      `${(lowest[index] as number).toFixed(1)} µs`,
      String(promises),
      `${kilobytes.toFixed(1)} KB`,
    ])
    child.stop()
  }
}
print([['in process, per request', 'time', 'promises', 'allocated'], ...rows])
