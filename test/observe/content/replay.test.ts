/** What was asked is asked again, at another model. */
import { mask } from 'modelhatch'
import { anthropic, openai } from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, type DialectRequest } from 'modelhatch/testing'
import { expect, test } from 'vitest'
import { scriptedDialect } from '../../../src/testing/scripted-dialect.ts'
import { vendorFor } from '../../hosted.ts'
import { textsIn, worldWith } from './world.ts'

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Who?' },
]
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]

/** Two models at vendors of different wire formats; what the second one was asked. */
async function world(options: Parameters<typeof worldWith>[0] = {}) {
  const asked: DialectRequest[] = []
  const first = await vendorFor(scriptedDialect(openaiDialect, () => ({ text: 'It was me.' })).reply)
  const second = await vendorFor(
    scriptedDialect(anthropicDialect, (parsed) => {
      asked.push(parsed)
      return { text: 'It was her.' }
    }).reply,
  )
  const made = await worldWith({
    models: {
      m: openai({ baseURL: first.baseURL, apiKey: 'k' }),
      n: anthropic({ baseURL: second.baseURL, apiKey: 'k' }),
    },
    usage: { record: true },
    ...options,
  })
  return { ...made, asked }
}

test('both answers are returned, whichever formats client and vendors have', async () => {
  const { post, kept, gateway, asked, receipts } = await world()
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'm', messages, tools, stream: true }],
    ['/v1/responses', { model: 'm', instructions: 'Be brief.', input: 'Who?' }],
    [
      '/v1beta/models/m:generateContent',
      {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Who?' }] }],
      },
    ],
  ] as const) {
    const { id } = await kept(await post(path, body))
    const { content, replay } = await gateway.admin.replay(id, { model: 'n' })
    expect(textsIn(content.answer.answer?.choices)).toEqual(['It was me.'])
    expect(textsIn(replay.answer.choices)).toEqual(['It was her.'])
    expect(replay).toMatchObject({ model: 'n' })
    expect(asked.at(-1)).toMatchObject({
      stream: false,
      instructions: 'Be brief.',
      turns: [{ role: 'user', text: 'Who?' }],
    })
    expect(receipts.at(-1)).toMatchObject({ id: replay.id, endpoint: 'replay', account: 'acme', outcome: 'completed' })
  }
  expect(asked[0]?.tools).toEqual(['look'])
})

test('nothing is charged or recorded for it, and it is noted', async () => {
  const { post, kept, gateway } = await world()
  const { id } = await kept(await post('/v1/chat/completions', { model: 'm', messages }))
  await gateway.admin.by({ name: 'eve' }).replay(id, { model: 'n' })
  expect(gateway.admin.content.counts()).toEqual({ written: 1, dropped: 0, waiting: 0 })
  await expect.poll(async () => (await gateway.admin.usage.list({ all: true })).items.length).toBe(1)
  const { items } = await gateway.admin.auditLog.list({ account: 'acme' })
  expect(items.filter(({ actor }) => actor === 'eve').map(({ action, target }) => [action, target])).toEqual([
    ['content.replay', id],
    ['content.read', id],
  ])
})

test('inspectors see it', async () => {
  const { post, kept, gateway, asked } = await world({ inspect: [mask()] })
  const { id } = await kept(
    await post('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: 'Write to ada@example.org' }],
    }),
  )
  await gateway.admin.replay(id, { model: 'n' })
  expect(asked[0]?.turns[0]?.text).toMatch(/^Write to EMAIL_[A-Z]{8}$/)
})

test('what cannot be asked again is a 400, and what is unknown a 404', async () => {
  const { post, kept, gateway } = await world({
    content: { mediaBytes: 1_024 },
    groups: { default: { models: ['m'] } },
  })
  const { id } = await kept(await post('/v1/chat/completions', { model: 'm', messages }))
  await expect(gateway.admin.replay(id, { model: 'n' })).rejects.toMatchObject({ status: 404 })
  await expect(gateway.admin.replay('req_none', { model: 'm' })).rejects.toMatchObject({ status: 404 })
  const url = `data:image/png;base64,${Buffer.alloc(2_000, 1).toString('base64')}`
  const content = [{ type: 'image_url', image_url: { url } }]
  const image = await kept(await post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] }))
  await expect(gateway.admin.replay(image.id, { model: 'm' })).rejects.toMatchObject({ status: 400 })
  const embedded = await kept(await post('/v1/embeddings', { model: 'm', input: 'Hi' }))
  await expect(gateway.admin.replay(embedded.id, { model: 'm' })).rejects.toMatchObject({ status: 400 })
})
