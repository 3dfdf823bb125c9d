/** Which frames are passed on unparsed: those that differ only in their text from a known frame. */
import { assert, constantFrom, nat, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { KnownFrame, KnownFrames, sizeOf, textOf } from '../../src/providers/known-frames.ts'
import { anyCharacter } from '../characters.ts'

type Fields = Record<string, unknown>

function chunkOf(delta: Fields, more: Fields = {}, choice: Fields = {}): Fields {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }]
  return { id: 'c-1', object: 'chat.completion.chunk', created: 7, model: 'vendor/m', choices, usage: null, ...more }
}

/** A frame with a character for each byte. */
function print(chunk: Fields): string {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`).toString('latin1')
}

const fields = new Set(['content', 'reasoning'])
const learn = (chunk: Fields) => KnownFrame.of(print(chunk), fields, undefined)
const known = learn(chunkOf({ content: 'Hello' })) as KnownFrame<undefined>

function passes(frame: string | Fields, form = known): boolean {
  const text = typeof frame === 'string' ? frame : print(frame)
  return form.match(text, 0)?.end === text.length
}

const anyText = string({ unit: oneof(constantFrom('"', '\\', '\n', 'n'), anyCharacter) })

test('matches any text, at any offset, and has the text and its size', () => {
  assert(
    property(anyText, nat(20), (content, offset) => {
      const frame = print(chunkOf({ content }))
      const found = known.match(`${'x'.repeat(offset)}${frame}${frame}`, offset)
      expect(found?.end).toBe(offset + frame.length)
      const [text = ''] = found?.texts ?? []
      expect([textOf(text), sizeOf(text)]).toEqual([content.toWellFormed(), Buffer.byteLength(content)])
    }),
  )
})

test('has the id of the frame, wherever it is written', () => {
  const { id, ...rest } = chunkOf({ content: 'x' })
  const last = learn({ ...rest, id }) as KnownFrame<undefined>
  expect(last.match(print({ ...rest, id: 'c-9' }), 0)).toMatchObject({ id: 'c-9', texts: ['x'] })
  expect(known.match(print(chunkOf({ content: 'y' }, { id: 'c-8' })), 0)).toMatchObject({ id: 'c-8', texts: ['y'] })
  const none = learn(rest) as KnownFrame<undefined>
  expect(none.match(print(rest), 0)).toMatchObject({ id: '', texts: ['x'] })
})

test('does not mind another time, other padding, and spaces before the last brace', () => {
  const padded = learn(chunkOf({ content: 'x' }, { p: 'abc' }))
  expect(passes(chunkOf({ content: 'y' }, { created: 1_800_000_000, p: 'abcdef' }), padded)).toBe(true)
  expect(passes(print(chunkOf({ content: 'y' })).replace(/\}\n/, '   }\n'))).toBe(true)
})

test.each<[string, Fields]>([
  ['a finish reason', chunkOf({ content: 'x' }, {}, { finish_reason: 'stop' })],
  ['usage', chunkOf({ content: 'x' }, { usage: { prompt_tokens: 1 } })],
  ['no choice', chunkOf({}, { choices: [] })],
  ['a tool call', chunkOf({ tool_calls: [{ index: 0 }] })],
  ['a tool call and text', chunkOf({ content: 'x', tool_calls: [{ index: 0 }] })],
  ['an error', { error: { message: 'x' } }],
  ['an error and text', chunkOf({ content: 'x' }, { error: { message: 'x' } })],
  ['no text', chunkOf({ content: null })],
  ['a list of parts', chunkOf({ content: [{ type: 'text', text: 'x' }] })],
  ['logprobs', chunkOf({ content: 'x' }, {}, { logprobs: { content: [] } })],
  ['another choice index', chunkOf({ content: 'x' }, {}, { index: 1 })],
  ['another model', chunkOf({ content: 'x' }, { model: 'vendor/n' })],
  ['an additional field', chunkOf({ content: 'x', refusal: 'y' })],
])('does not match a frame with %s', (_, chunk) => {
  expect(passes(chunk)).toBe(false)
})

test('does not match a truncated or broken frame', () => {
  const frame = print(chunkOf({ content: 'a\\b' }))
  for (let size = 0; size < frame.length; size++) expect(passes(frame.slice(0, size))).toBe(false)
  for (const broken of ['a\nb', 'a"b', String.raw`a\xb`, String.raw`\u12`]) {
    expect(passes(frame.replace(String.raw`a\\b`, () => broken))).toBe(false)
  }
})

test.each(['event: x y\n', ': comment\n', 'data: \n'])('learns nothing from a frame that begins with %j', (line) => {
  expect(KnownFrame.of(line + print(chunkOf({ content: 'x' })), fields, undefined)).toBeUndefined()
})

test('a very long frame is not searched', () => {
  const forms = new KnownFrames<undefined>()
  forms.add(known)
  expect(forms.match(print(chunkOf({ content: '\n'.repeat(1_000) })), 0)).toBeDefined()
  expect(forms.match(print(chunkOf({ content: '\n'.repeat(100_000) })), 0)).toBeUndefined()
})
