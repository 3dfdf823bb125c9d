/** Sends the most expensive valid bodies, alternating between the demo and the vendors. */
import { vendorModels } from '../worst/gateway.ts'
import { worstInputs } from '../worst/inputs.ts'
import { faultIn, send } from './asking.ts'
import type { Attacked } from './attacked.ts'
import { measured } from './measured.ts'
import { hostNames, type HostName } from './places.ts'

const names: Readonly<Record<string, string>> = { anthropic: 'claude' }

/** Sends one in `oneIn` bodies, with a different first one each day. */
export async function sendWorst(attacked: Attacked, oneIn: number, withinMs: number) {
  const end = performance.now() + withinMs
  const first = Math.floor(Date.now() / 86_400_000) % oneIn
  let sent = 0
  let longest = 0
  for (const [index, { name, path, contentType, body }] of worstInputs.entries()) {
    if (index % oneIn !== first || performance.now() > end) continue
    const models = ['demo', ...(vendorModels[path] ?? [])]
    const model = models[Math.floor(index / oneIn) % models.length] as string
    const bytes = body(names[model] ?? model)
    const host = hostNames[index % 2] as HostName
    const what = `${path} of ${model} with ${name}`
    const result = await measured(attacked, what, () => send(attacked, { host, path, contentType, body: bytes }))
    sent++
    if (result === undefined) continue
    longest = Math.max(longest, result.longest)
    const fault = faultIn(result.answer)
    if (fault !== undefined) attacked.faults.push(`${what}: ${fault}`)
  }
  return { sent, longest }
}
