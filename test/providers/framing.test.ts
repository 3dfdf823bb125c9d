import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventIn, Framer } from '../../src/providers/framing.ts'
import { hasShared, sharedJson } from '../shared.ts'
import { anyCharacter } from '../characters.ts'

interface Case {
  readonly name: string
  readonly base64: string
  readonly events: readonly { readonly event: string; readonly data: string }[]
  readonly split_at?: readonly number[]
}

const cases = hasShared ? (sharedJson('corpora/sse.json') as Case[]) : []

describe.skipIf(!hasShared)('every stream of the corpus yields the events of the standard', () => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', (_, { base64, events, split_at: at = [] }) => {
    const bytes = Buffer.from(base64, 'base64')
    const expected = events.map(({ event, data }) => ({ name: event, data }))
    expect(read([bytes])).toEqual(expected)
    expect(read(single(bytes)), 'byte by byte').toEqual(expected)
    for (const cut of at) expect(read(cutAt(bytes, cut)), `cut at ${cut}`).toEqual(expected)
    if (bytes.length > 100) return
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(read(cutAt(bytes, cut)), `cut at ${cut}`).toEqual(expected)
    }
  })
})

test('parses any events with any line ends from any pieces', () => {
  const lineEnd = fc.constantFrom('\n', '\r', '\r\n')
  const text = fc.string({ unit: anyCharacter }).map((each) => each.replaceAll(/[\r\n]/g, ''))
  const frame = fc.record({ name: fc.constantFrom('', 'delta', 'error'), lines: fc.array(text, { minLength: 1 }) })
  fc.assert(
    fc.property(fc.array(frame), lineEnd, fc.infiniteStream(fc.nat(7)), (frames, end, sizes) => {
      const printed = frames.map(({ name, lines }) =>
        [...(name === '' ? [] : [`event: ${name}`]), ...lines.map((line) => `data: ${line}`), '', ''].join(end),
      )
      const events = frames.map(({ name, lines }) => ({ name: name || 'message', data: lines.join('\n') }))
      const bytes = Buffer.from(printed.join(''))
      expect(read(inPieces(bytes, sizes))).toEqual(events.map((each) => wellFormed(each)))
    }),
    { numRuns: 30 },
  )
})

test('rejects a frame above the limit, however small the pieces', () => {
  const framer = new Framer(1_000)
  const push = () => {
    for (let piece = 0; piece <= 1_000; piece++) framer.push(Buffer.from('x'))
  }
  expect(push).toThrow(expect.objectContaining({ code: 'service_unavailable' }))
})

test('returns the bytes after the last blank line separately: by the standard they are not an event', () => {
  const framer = new Framer()
  framer.push(Buffer.from('data: 1\n\ndata: [DO'))
  framer.push(Buffer.from('NE]'))
  expect(eventIn(framer.rest())).toEqual({ name: 'message', data: '[DONE]' })
})

function read(pieces: Iterable<Buffer>) {
  const framer = new Framer()
  const outputs = Array.from(pieces, (piece) => framer.push(piece)?.toString('utf8') ?? '')
  return outputs.flatMap((output) => output.split('\n\n')).flatMap((frame) => eventIn(frame) ?? [])
}

function single(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
}

function cutAt(bytes: Buffer, at: number): Buffer[] {
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

function inPieces(bytes: Buffer, sizes: Iterator<number>): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const size = (sizes.next().value as number) + 1
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

/** Without lone surrogates, which UTF-8 cannot encode. */
function wellFormed({ name, data }: { name: string; data: string }) {
  return { name, data: data.toWellFormed() }
}
