/**
 * `npm run bench:turns`: how long each of the worst inputs keeps the event loop from everyone else. Words behind the
 * command choose by path, name or model.
 */
import { leastMs } from '../cpu-time.ts'
import { vendorModels, worstGateway } from './gateway.ts'
import { worstInputs } from './inputs.ts'
import { turnsOf } from './turns.ts'

/** Milliseconds of CPU on a machine that is calm. */
const allowed = Number(process.env['TURN_MS'] ?? 100)
const words = process.argv.slice(2)

let tooLong = 0
for (const { name, path, contentType, body } of worstInputs) {
  for (const model of ['demo', ...(vendorModels[path] ?? [])]) {
    if (!words.every((word) => `${path} ${name} ${model}`.includes(word))) continue
    const gateway = await worstGateway()
    const bytes = body(model)
    globalThis.gc?.()
    let result = 0
    const longest = await leastMs(allowed, async () => {
      const spent = await turnsOf(() => gateway.send(path, contentType, bytes).catch(() => 0))
      result = spent.result
      return spent.longestTurn
    })
    await gateway.close()
    const wrong = longest > allowed || result >= 500 || result === 0
    if (wrong) tooLong++
    const figures = longest.toFixed(0).padStart(6)
    process.stdout.write(`${figures} ${result} ${wrong ? '!' : ' '} ${model.padEnd(10)} ${path}: ${name}\n`)
  }
}
process.stdout.write(`${tooLong} over ${allowed} ms of CPU in one turn\n`)
process.exitCode = tooLong > 0 ? 1 : 0
