/** Frames of text as chunks, for endpoints that translate them. */
import * as fc from 'fast-check'
import { ContentFrames } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { readFrames } from '../../../src/providers/openai/frames.ts'
import { FrameTemplates } from '../../../src/providers/openai/template.ts'
import type { ChatChunk } from '../../../src/wire/chat.ts'
import { anyCharacter } from '../../characters.ts'

const failure = () => new Error('failed')

type Delta = Readonly<Record<string, string | null>>

function frameOf(delta: Delta, more: object = {}): string {
  const chunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
    obfuscation: 'x'.repeat(Object.values(delta).join('').length % 5),
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

async function chunksOf(pieces: readonly Buffer[], templates?: FrameTemplates): Promise<ChatChunk[]> {
  const chunks: ChatChunk[] = []
  for await (const piece of readFrames(each(pieces), { failure, inChunks: true, rename: 'other', templates })) {
    if (piece instanceof ContentFrames) throw new TypeError('frames instead of chunks')
    chunks.push(piece)
  }
  return chunks
}

function textIn(chunks: readonly ChatChunk[], field: 'content' | 'reasoning_content'): string {
  return chunks.map(({ choices }) => choices?.[0]?.delta?.[field] ?? '').join('')
}

const role = frameOf({ role: 'assistant', content: '' })
const end = `${frameOf({}, { finish_reason: 'stop' })}data: [DONE]\n\n`

/** As JSON libraries that write ASCII only. */
function inAscii(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

test('has the text of all frames, however it is escaped and split', async () => {
  const words = fc.array(fc.string({ unit: anyCharacter, maxLength: 8 }), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(words, fc.boolean(), fc.array(fc.nat()), async (texts, escaped, cuts) => {
      const stream = role + texts.map((content) => frameOf({ content })).join('') + end
      const bytes = Buffer.from(escaped ? inAscii(stream) : stream)
      const bounds = [0, ...cuts.map((cut) => cut % bytes.length).sort((x, y) => x - y), bytes.length]
      const pieces = bounds.slice(1).map((to, index) => bytes.subarray(bounds[index], to))
      expect(textIn(await chunksOf(pieces), 'content')).toBe(texts.join(''))
    }),
  )
})

test.each(['refusal', 'annotation'])('has the field %s of all frames', async (field) => {
  const words = ['I', ' cannot', ' help', ' with', ' that']
  const stream = Buffer.from(role + words.map((word) => frameOf({ [field]: word })).join('') + end)
  const templates = new FrameTemplates()
  for (const _ of words) {
    const said = (await chunksOf([stream], templates)).map(
      ({ choices }) => (choices?.[0]?.delta?.[field] ?? '') as string,
    )
    expect(said.join('')).toBe(words.join(''))
  }
})

test('of frames that arrive together is one chunk', async () => {
  const templates = new FrameTemplates()
  const stream = Buffer.from(
    role + Array.from({ length: 50 }, (_, index) => frameOf({ content: `w${index}` })).join('') + end,
  )
  await chunksOf([stream], templates)
  const chunks = await chunksOf([stream], templates)
  expect(chunks.length).toBeLessThan(6)
  expect(textIn(chunks, 'content')).toMatch(/^w0w1.*w49$/)
})

test('keeps reasoning and content apart', async () => {
  const both = (content: string, reasoning: string) => frameOf({ content, reasoning_content: reasoning })
  const frames = [both('', 'a'), both('', 'b\\"'), both('', 'c'), both('x', ''), both('y\n', ''), both('z', '')]
  const chunks = await chunksOf([Buffer.from(role + frames.join('') + end)])
  expect(textIn(chunks, 'reasoning_content')).toBe('ab\\"c')
  expect(textIn(chunks, 'content')).toBe('xy\nz')
})

test('leaves frames of several choices as they are', async () => {
  const choice = (index: number, content: string) => ({
    index,
    delta: { content },
    logprobs: null,
    finish_reason: null,
  })
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' }
  const frame = (word: string) =>
    `data: ${JSON.stringify({ ...head, choices: [choice(0, `a${word}`), choice(1, `b${word}`)] })}\n\n`
  const ends = [0, 1].map(
    (index) => `data: ${JSON.stringify({ ...head, choices: [{ index, delta: {}, finish_reason: 'stop' }] })}\n\n`,
  )
  const chunks = await chunksOf([
    Buffer.from([frame('1'), frame('2'), frame('3'), ...ends, 'data: [DONE]\n\n'].join('')),
  ])
  const texts = [0, 1].map((at) => chunks.map(({ choices }) => choices?.[at]?.delta?.content ?? '').join(''))
  expect(texts).toEqual(['a1a2a3', 'b1b2b3'])
})
