import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use, after everything that nobody holds was given back. */
export function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}
