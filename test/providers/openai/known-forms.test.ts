/** Streams of one model share the formats of their frames, and nothing else. */
import { expect, test, vi } from 'vitest'
import { ContentFrames, type ChatPiece } from '../../../src/providers/contract.ts'
import { KnownFrames } from '../../../src/providers/known-frames.ts'
import { readFrames, type TextFrame } from '../../../src/providers/openai/frames.ts'

type Fields = Record<string, unknown>

function frame(id: string, delta: Fields, more: Fields = {}, choice: Fields = {}): string {
  const choices = [{ index: 0, delta, finish_reason: null, ...choice }]
  const chunk = { id, object: 'chat.completion.chunk', created: 7, model: 'vendor/m', ...more, choices }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

const end = (id: string) => [frame(id, {}, {}, { finish_reason: 'stop' }), 'data: [DONE]\n\n']

interface Read {
  /** The frames that were passed on, and the deltas of the others. */
  readonly pieces: unknown[]
  readonly textBytes: number
  /** How many frames were parsed. */
  readonly parsed: number
}

async function read(
  frames: readonly string[],
  known: KnownFrames<TextFrame> | undefined,
  rename?: string,
): Promise<Read> {
  const parse = vi.spyOn(JSON, 'parse')
  const pieces: ChatPiece[] = []
  async function* source() {
    yield Buffer.from(frames.join(''))
  }
  for await (const piece of readFrames(source(), { known, rename, failure: () => new Error('failed') })) {
    pieces.push(piece)
  }
  const parsed = parse.mock.calls.length
  parse.mockRestore()
  return {
    pieces: pieces.map((piece) =>
      piece instanceof ContentFrames ? Buffer.from(piece.bytes).toString() : piece.choices?.[0]?.delta,
    ),
    textBytes: pieces.reduce((sum, piece) => sum + (piece instanceof ContentFrames ? piece.textBytes : 0), 0),
    parsed,
  }
}

function stream(id: string, more: Fields = {}): string[] {
  const role = { role: 'assistant', content: '' }
  return [frame(id, role, more), frame(id, { content: 'one' }, more), frame(id, { content: 'two' }, more), ...end(id)]
}

test('the text of a later stream is passed on without parsing any of it, with its own id and time', async () => {
  const known = new KnownFrames<TextFrame>()
  const first = await read(stream('a'), known)
  const later = stream('another', { created: 1_800_000_000 })
  const second = await read(later, known)
  expect([first.parsed, second.parsed]).toEqual([3, 2])
  expect(second.pieces).toEqual([{ role: 'assistant', content: '' }, later[1] + (later[2] ?? ''), {}])
  expect(second.textBytes).toBe('onetwo'.length)
})

test('a stream has the same result with and without what others have learnt', async () => {
  const known = new KnownFrames<TextFrame>()
  for (const more of [{}, { system_fingerprint: 'f' }, { system_fingerprint: 'g' }, { usage: null }]) {
    await read(stream('a', more), known)
    for (const rename of [undefined, 'm']) {
      const { parsed: _, ...alone } = await read(stream('b', more), undefined, rename)
      const { parsed: __, ...shared } = await read(stream('b', more), known, rename)
      expect(shared).toEqual(alone)
    }
  }
})

test.each<[string, string]>([
  ['another id', frame('c', { content: 'x' })],
  ['no id', frame('', { content: 'x' })],
  ['another model', frame('b', { content: 'x' }, { model: 'vendor/n' })],
  ['a choice that has not begun', frame('b', { content: 'x' }, {}, { index: 1 })],
  ['a finish reason', frame('b', { content: 'x' }, {}, { finish_reason: 'stop' })],
  ['a tool call', frame('b', { content: 'x', tool_calls: [{ index: 0 }] })],
  ['an additional field', frame('b', { content: 'x' }, { seed: 1 })],
])('the first text of a stream is parsed if it has %s', async (_, text) => {
  const known = new KnownFrames<TextFrame>()
  await read(stream('a'), known)
  const role = frame('b', { role: 'assistant', content: '' })
  const { pieces } = await read([role, text, ...end('b')], known)
  const passed = pieces.filter((piece) => typeof piece === 'string')
  // A frame in a new format is learnt, and then passed on like those after it.
  expect(passed).toEqual(/"seed"|vendor\/n/.test(text) ? [text] : [])
})

test('the first frame of a stream is parsed, even if it has text', async () => {
  const known = new KnownFrames<TextFrame>()
  await read(stream('a'), known)
  const [text, next] = [frame('b', { content: 'x' }), frame('b', { content: 'y' })]
  expect((await read([text, next, ...end('b')], known)).pieces).toEqual([{ content: 'x' }, next, {}])
})

test('a vendor with a new format for every stream costs a bounded number of comparisons', async () => {
  const known = new KnownFrames<TextFrame>()
  for (let count = 0; count < 50; count++) await read(stream('a', { system_fingerprint: `f${count}` }), known)
  expect((await read(stream('b', { system_fingerprint: 'f49' }), known)).parsed).toBe(2)
  expect((await read(stream('b', { system_fingerprint: 'f0' }), known)).parsed).toBe(3)
})
