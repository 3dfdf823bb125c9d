/** `npm run model`: explores the models completely. `npm run model -- 3 2 1 1 1` explores the calls with other numbers. */
import { callsModel } from './calls.ts'
import { explore, type Explored } from './explore.ts'
import { slicesModel } from './slices.ts'

const given = process.argv.slice(2).map(Number)
const sizes =
  given.length === 5
    ? [given]
    : [
        [2, 2, 1, 1, 1],
        [3, 2, 1, 1, 0],
        [3, 3, 1, 0, 0],
      ]

function report(what: string, run: () => Explored): void {
  const begun = performance.now()
  const { states, steps, violation } = run()
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  console.log(`${what}: ${states} states, ${steps} steps, ${seconds} s, ${violation?.message ?? 'nothing violated'}`)
  if (violation !== undefined) process.exitCode = 1
}

for (const [processes = 1, calls = 1, crashes = 0, pauses = 0, losses = 0] of sizes) {
  const what = `${processes} processes × ${calls} calls × 2 caps, ${crashes} crashes, ${pauses} pauses, ${losses} losses`
  report(what, () => explore(callsModel({ processes, calls, crashes, pauses, losses })))
}
if (given.length === 0) {
  for (const processes of [2, 3]) {
    report(`slices of ${processes} processes`, () => explore(slicesModel(6, 5, processes)))
  }
}
