/** Masks: what vendors get in place of what is personal or secret, and what clients get back. */
import { mask } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'
import { say, wires, worldWith } from './world.ts'

const email = 'ada.lovelace@example.org'
const card = '4111 1111 1111 1111'
const placeholders = /(?:EMAIL|CARD|IBAN|PHONE|KEY)_[A-Z]{8}/g

function pieces(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
}

test('an answer that goes on at another vendor has its values back, and that one gets placeholders too', async () => {
  const chunk = (content: string, end: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: end }] })}\n\n`
  const breaking = await vendorFor(({ body }, response) => {
    const [mail = ''] = body.toString().match(placeholders) ?? []
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk(`I have written to ${mail}, and then `), () => response.destroy())
  })
  const goingOn = await vendorFor(({ body }, response) => {
    const [mail = ''] = body.toString().match(placeholders) ?? []
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunk(`I have written to ${mail}, and then to ${mail}.`)}${chunk('', 'stop')}data: [DONE]\n\n`)
  })
  const provider = (name: string, { baseURL }: { baseURL: string }) => openai({ name, baseURL, apiKey: 'k' })
  const { url } = await hostedWith({
    models: {
      m: { route: [{ provider: provider('a', breaking) }, { provider: provider('b', goingOn) }], continue: true },
    },
    inspect: [mask()],
  })
  const text = await (
    await askChat(url, { messages: [{ role: 'user', content: `Write to ${email}` }], stream: true })
  ).text()
  const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
  expect(said).toBe(`I have written to ${email}, and then to ${email}.`)
  for (const { requests } of [breaking, goingOn]) {
    expect(requests).toHaveLength(1)
    expect(requests[0]?.body.toString()).not.toContain(email)
  }
})

describe.each([...wires, 'completions'] as const)('in %s', (wire) => {
  test.each([false, true])('the vendor gets placeholders, the client its own words (stream: %s)', async (stream) => {
    const world = await worldWith({ inspect: [mask()] }, (body) => {
      const [mail = '', number = ''] = body.match(placeholders) ?? []
      const texts = pieces(`I wrote to ${mail} about ${number}.`, 3)
      return wire === 'completions'
        ? { texts }
        : { texts, inputs: pieces(JSON.stringify({ to: mail, n: [number] }), 5) }
    })
    const said = await say(world, wire, `Write to ${email}, my card is ${card}!`, stream)
    expect(world.asked()).not.toMatch(/lovelace|1111/)
    expect(said.text).toBe(`I wrote to ${email} about ${card}.`)
    if (wire !== 'completions') expect(JSON.parse(said.input)).toEqual({ to: email, n: [card] })
  })
})
