/** Which frames are passed on unparsed: those that differ only in their text from a known frame. */
import { assert, constantFrom, nat, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { WordView } from '../../../src/providers/frame-window.ts'
import { FrameTemplate } from '../../../src/providers/openai/template.ts'
import { anyCharacter } from '../../characters.ts'

type Fields = Record<string, unknown>

function chunkOf(delta: Fields, more: Fields = {}, choice: Fields = {}): Fields {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }]
  return { id: 'c-1', object: 'chat.completion.chunk', created: 7, model: 'vendor/m', choices, usage: null, ...more }
}

function print(chunk: Fields): Buffer {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
}

function learn(chunk: Fields, before?: FrameTemplate): FrameTemplate | undefined {
  return FrameTemplate.of(print(chunk), chunk, before)
}

const known = learn(chunkOf({ content: 'Hello' })) as FrameTemplate

function passes(frame: Buffer | Fields, template = known): boolean {
  const bytes = Buffer.isBuffer(frame) ? frame : print(frame)
  return template.endOf(new WordView(bytes), 0) === bytes.length
}

const anyText = string({
  unit: oneof(constantFrom('"', '\\', '\n', 'n'), anyCharacter),
})

test('matches any text, at any offset', () => {
  assert(
    property(anyText, nat(20), (content, offset) => {
      const frame = print(chunkOf({ content }))
      const view = Buffer.concat([Buffer.alloc(offset, 'x'), frame, frame])
      expect(known.endOf(new WordView(view), offset)).toBe(offset + frame.length)
    }),
  )
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
  ['another id', chunkOf({ content: 'x' }, { id: 'c-2' })],
  ['another model', chunkOf({ content: 'x' }, { model: 'vendor/n' })],
  ['an additional field', chunkOf({ content: 'x', refusal: 'y' })],
])('does not match a frame with %s', (_, chunk) => {
  expect(passes(chunk)).toBe(false)
})

test('does not match a truncated or broken frame', () => {
  const frame = print(chunkOf({ content: 'a\\b' }))
  for (let size = 0; size < frame.length; size++) expect(passes(frame.subarray(0, size))).toBe(false)
  expect(passes(Buffer.from(frame.toString().replace('a\\\\b', 'a\nb')))).toBe(false)
  expect(passes(Buffer.from(frame.toString().replace('a\\\\b', 'a"b')))).toBe(false)
})

test.each<[string, Fields]>([
  ['without an id', chunkOf({ content: 'x' }, { id: '' })],
  ['without a time', chunkOf({ content: 'x' }, { created: null })],
  ['without the index of its choice', chunkOf({ content: 'x' }, {}, { index: undefined })],
  ['of another kind', chunkOf({ content: 'x' }, { object: 'chat.completion' })],
  ['with the role', chunkOf({ role: 'assistant', content: '' })],
  ['with a finish reason', chunkOf({ content: 'x' }, {}, { finish_reason: 'stop' })],
])('learns nothing from a frame %s', (_, chunk) => {
  expect(learn(chunk)).toBeUndefined()
})

test('learns nothing from a frame of several lines', () => {
  const chunk = chunkOf({ content: 'x' })
  expect(FrameTemplate.of(Buffer.concat([Buffer.from('event: x\n'), print(chunk)]), chunk, undefined)).toBeUndefined()
})

test('a value that differed between two learnt frames may have any value', () => {
  const timed = learn(chunkOf({ content: 'Hello' }, { created: 8, seed: 'a' }), known) as FrameTemplate
  expect(passes(chunkOf({ content: 'x' }, { created: 9, seed: 'a' }), timed)).toBe(false)

  const first = learn(chunkOf({ content: 'Hello' }, { created: 8, seed: 'a' })) as FrameTemplate
  const second = learn(chunkOf({ content: 'Hello' }, { created: 9, seed: 'b' }), first) as FrameTemplate
  expect(passes(chunkOf({ content: 'x' }, { created: 10_000, seed: 'c' }), second)).toBe(true)
  const again = learn(
    chunkOf({ content: 'Hello' }, { created: 9, seed: 'b', object: 'text_completion' }),
    second,
  ) as FrameTemplate
  expect(passes(chunkOf({ content: 'x' }, { created: 10, seed: 'c', object: 'text_completion' }), again)).toBe(true)
  const third = learn(chunkOf({ reasoning: 'Hello' }, { created: 9, seed: 'b' }), second) as FrameTemplate
  expect(passes(chunkOf({ reasoning: 'x' }, { created: 10, seed: 'c' }), third)).toBe(false)
})

test('id, model and choice index never become gaps', () => {
  const other = learn(chunkOf({ content: 'Hello' }, { id: 'c-2', model: 'n' }, { index: 1 }), known) as FrameTemplate
  expect(passes(chunkOf({ content: 'x' }, { id: 'c-2', model: 'n' }, { index: 1 }), other)).toBe(true)
  expect(passes(chunkOf({ content: 'x' }, { id: 'c-3', model: 'n' }, { index: 1 }), other)).toBe(false)
  expect(passes(chunkOf({ content: 'x' }, { id: 'c-2', model: 'o' }, { index: 1 }), other)).toBe(false)
  expect(passes(chunkOf({ content: 'x' }, { id: 'c-2', model: 'n' }, { index: 2 }), other)).toBe(false)
})

test('reports the position of the model name', () => {
  const frame = print(chunkOf({ content: 'x' }))
  const ends: number[] = []
  known.endOf(new WordView(Buffer.concat([frame, frame])), frame.length, ends)
  const [end = 0] = ends
  const view = Buffer.concat([frame, frame])
  expect(view.toString('utf8', end - known.nameBytes, end)).toBe('"vendor/m"')
})
