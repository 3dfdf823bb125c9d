/** Masks: what vendors get in place of what is personal or secret, and what clients get back. */
import { mask } from 'modelhatch'
import { describe, expect, test } from 'vitest'
import { say, wires, worldWith } from './world.ts'

const email = 'ada.lovelace@example.org'
const card = '4111 1111 1111 1111'
const placeholders = /(?:EMAIL|CARD|IBAN|PHONE|KEY)_[A-Z]{8}/g

function pieces(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
}

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
