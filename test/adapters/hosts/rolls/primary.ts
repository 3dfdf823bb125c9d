/** Two workers behind one port. On the message `roll` it replaces them one by one, as a rolling deploy does. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sourceFlags } from '../../../source-flags.ts'

cluster.setupPrimary({
  exec: fileURLToPath(new URL('worker.ts', import.meta.url)),
  execArgv: [...sourceFlags],
})

async function start(): Promise<Worker> {
  const worker = cluster.fork()
  await once(worker, 'listening')
  return worker
}

let workers = await Promise.all([start(), start()])

process.on('message', (message) => {
  if (message === 'roll') void roll()
})

async function roll(): Promise<void> {
  const codes: unknown[] = []
  const next = await Promise.all([start(), start()])
  for (const old of workers) {
    const ended = once(old, 'exit')
    old.process.kill('SIGTERM')
    codes.push((await ended)[0])
  }
  workers = next
  process.send?.({ rolled: codes })
}

process.once('disconnect', () => process.exit())
process.send?.('ready')
