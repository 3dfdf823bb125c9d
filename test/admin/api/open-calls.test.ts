/** Requests that are in progress, as administration sees them. */
import { expect, test } from 'vitest'
import { createGateway } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { hosted, vendorFor } from '../../hosted.ts'
import { served } from './served.ts'

const ends: (() => void)[] = []

/** A vendor whose stream begins, and ends when the test says so. */
async function opened() {
  const vendor = await vendorFor(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    response.write(chunk({ role: 'assistant', content: 'forty bytes of text, of ten tokens or so' }, null))
    await new Promise<void>((resolve) => ends.push(resolve))
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  const gateway = createGateway({
    models: { gpt: { provider: openai({ apiKey: 'x', baseURL: vendor.baseURL }), providerModel: 'gpt-large' } },
    keys: { 'sk-acme': { account: 'acme', user: 'ada' }, 'sk-globex': { account: 'globex' } },
  })
  const url = await hosted(gateway)
  const { ask } = await served(gateway)
  const call = (key: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })
  return { gateway, ask, call }
}

test('are listed with their age and what has arrived of them, the oldest first, until their end', async () => {
  const { gateway, ask, call } = await opened()
  const responses = [await call('sk-acme'), await call('sk-globex')]
  const ids = responses.map(({ headers }) => headers.get('x-request-id'))
  const { items } = (await ask('admin', '/open-calls')).json
  expect(items).toMatchObject([
    { id: ids[0], account: 'acme', user: 'ada', model: 'gpt', provider: 'openai', providerModel: 'gpt-large' },
    { id: ids[1], account: 'globex', endpoint: 'chat.completions', attempts: 1, stream: true, disconnected: false },
  ])
  expect(items[0].ageMs).toBeGreaterThanOrEqual(items[0].firstByteMs)
  expect(items[0].promptTokens).toBeGreaterThan(0)
  expect(items[0].completionTokens).toBe(10)
  expect(gateway.admin.openCalls({ account: 'globex' }).map(({ id }) => id)).toEqual([ids[1]])
  for (const end of ends.splice(0)) end()
  await Promise.all(responses.map((response) => response.text()))
  expect(gateway.admin.openCalls({ all: true })).toEqual([])
})

test('are shown to an account as far as they are its own, without the vendor', async () => {
  const { gateway, ask, call } = await opened()
  const responses = [await call('sk-acme'), await call('sk-globex')]
  const { items } = (await ask('acme', '/open-calls')).json
  expect(items).toMatchObject([{ account: 'acme', model: 'gpt' }])
  expect(items[0]).not.toHaveProperty('provider')
  expect(items[0]).not.toHaveProperty('providerModel')
  expect((await ask('acme', '/open-calls?account=globex')).status).toBe(404)
  expect(() => gateway.admin.openCalls({} as never)).toThrow('all: true')
  for (const end of ends.splice(0)) end()
  await Promise.all(responses.map((response) => response.text()))
})
