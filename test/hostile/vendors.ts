/** Vendors with hostile responses: the client gets a response or a 503, and other requests are not delayed. */
import type { ScriptedVendor } from 'modelhatch/testing'
import { faultIn, send } from './asking.ts'
import type { Attacked } from './attacked.ts'
import { excesses, pathOf } from './excess.ts'
import { measured } from './measured.ts'
import { hostNames, type HostName } from './places.ts'

const messages = [{ role: 'user', content: 'Hi' }]

export async function meetHostileVendors(attacked: Attacked, vendor: ScriptedVendor) {
  let asked = 0
  let longest = 0
  for (const [model, list] of Object.entries(excesses)) {
    const path = pathOf(model)
    for (const { name, type, body } of list) {
      vendor.reply = (_, response) => void response.writeHead(200, { 'content-type': type }).end(body)
      for (const stream of [false, true]) {
        const what = `${model} with ${name}${stream ? ', streamed' : ''}`
        const question = { model, stream, ...(path.endsWith('responses') ? { input: 'Hi' } : { messages }) }
        const host = hostNames[asked++ % 2] as HostName
        const attack = () => send(attacked, { host, path, body: JSON.stringify(question) })
        const result = await measured(attacked, what, attack)
        if (result === undefined) continue
        longest = Math.max(longest, result.longest)
        const fault = faultIn(result.answer, undefined, true)
        if (fault !== undefined) attacked.faults.push(`${what}: ${fault}`)
      }
    }
  }
  return { asked, longest }
}
