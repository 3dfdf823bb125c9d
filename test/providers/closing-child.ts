/** Starts requests to the vendor at the given URL in every phase, closes the gateway, and prints what it still holds. */
import { subscribe } from 'node:diagnostics_channel'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/fetch'
import { openai } from 'modelhatch/providers'

const requests: unknown[] = []
let wake: (() => void) | undefined
subscribe('undici:client:sendHeaders', (request) => {
  requests.push(request)
  wake?.()
})

const gateway = createGateway({
  models: { m: openai({ baseURL: process.argv[2] as string }) },
  keys: { 'sk-test': {} },
  retry: { backoffMs: 600_000, maxWaitMs: 600_000 },
})
const handle = mount(gateway)

/** Requests the vendor's reply of this name. */
function ask(content: string, stream: boolean): Promise<Response> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], stream })
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  return handle(new Request('http://host/v1/chat/completions', { method: 'POST', headers, body }))
}

/** Resolves once this number of requests has been sent. */
async function reached(count: number): Promise<void> {
  while (requests.length < count) await new Promise<void>((resolve) => (wake = resolve))
}

// One finished on an idle connection, one without a response, one in the middle of a stream, one waiting for its retry.
await (await ask('whole', false)).text()
const silent = ask('silent', false)
await reached(2)
const begun = await ask('begun', true)
const refused = ask('refusing', true)
await reached(4)

await gateway.close({ graceMs: 0 })
const answers = [await silent, begun, await refused]
const texts = await Promise.all(answers.map((answer) => answer.text()))
if (!texts.every((text) => text.includes('"code":"service_unavailable"'))) console.log(texts)
console.log(
  'closed',
  process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap'),
)
