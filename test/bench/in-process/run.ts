/**
 * `npm run bench -- --in-process [DIR …]`: microseconds, promises and allocations of the gateway per request, without
 * sockets, so that it says the same on a busy machine. Every DIR is another checkout to compare with, measured in turns:
 * the lowest of many short slices counts. `--only=json,sse50 native`: these rows.
 */
import { fileURLToPath } from 'node:url'
import { Child } from '../child.ts'
import { about } from '../machine.ts'
import { print } from '../table.ts'

const here = fileURLToPath(new URL('../../../', import.meta.url))
const roots = [here, ...process.argv.slice(2).filter((word) => !word.startsWith('--'))]
const slices = 60

const variants = ['', ' metered', ' native', ' translated']
const scenarios = [
  ...['json', 'sse50', 'sse500'].flatMap((name) => variants.map((variant) => name + variant)),
  'messages',
  'json fair',
  'json otel',
  'json prometheus',
]
const only = process.argv
  .find((word) => word.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',')
const chosen = only ?? scenarios

console.log(about())

const rows: string[][] = []
for (const scenario of chosen) {
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
