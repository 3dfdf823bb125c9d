/** Responses in the background are inspected like all others. */
import { mask } from 'modelhatch'
import { expect, test } from 'vitest'
import { worldWith } from './world.ts'

test('a response in the background has its values back, and its vendor gets placeholders', async () => {
  const email = 'ada@example.org'
  const world = await worldWith({ inspect: [mask()] }, (body) => ({
    texts: ['I wrote to ', ...(/EMAIL_[A-Z]{8}/.exec(body)?.[0] ?? '').split(/(?=_)/)],
  }))
  const { id } = await world.openai.responses.create({ model: 'm', input: `Write to ${email}`, background: true })
  await expect.poll(async () => (await world.openai.responses.retrieve(id)).output_text).toBe(`I wrote to ${email}`)
  expect(world.asked()).not.toContain(email)
})
