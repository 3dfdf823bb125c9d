/** What a model has made and the client's wire cannot hold. */
import { expect, test } from 'vitest'
import type { Block, Fields } from '../../src/conversation/conversation.ts'
import type { Part } from '../../src/conversation/parts.ts'
import { messages } from '../../src/formats/messages/messages.ts'
import { responses } from '../../src/formats/responses/responses.ts'
import { asked, written } from './laws.ts'

const sound = { type: 'audio', source: { mediaType: 'audio/wav', base64: 'AAEC' } } as const

/** All texts of whole answers and of events, in order. */
function textsIn(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return ''
  const own = (value as Fields)[name]
  return (
    (typeof own === 'string' ? own : '') +
    Object.values(value)
      .map((each) => textsIn(each, name))
      .join('')
  )
}

test.each([messages, responses])('$name says the words of a sound, or that there is one', (format) => {
  const whole = (block: Block) => {
    const choices = [{ blocks: [{ kind: 'text', text: 'Listen: ' } as const, block], end: { reason: 'stop' } as const }]
    return textsIn(format.writeAnswer({ choices }, asked), 'text')
  }
  expect(whole({ kind: 'media', ...sound, transcript: 'Hello' })).toBe('Listen: Hello')
  expect(whole({ kind: 'media', ...sound })).toMatch(/^Listen: \[[^[]*"audio"/)
})

test.each([
  [messages, 'text'],
  [responses, 'delta'],
] as const)('in the stream of $name, once for all pieces of it', (format, name) => {
  const piece = (more: object) => ({ kind: 'media', choice: 0, block: 0, ...sound, ...more }) as Part
  const parts = (pieces: readonly Part[]): Part[] => [
    { kind: 'start' },
    ...pieces,
    { kind: 'end', choice: 0, end: { reason: 'stop' } },
  ]
  const said = (...pieces: Part[]) => textsIn(written(format, parts(pieces), asked), name)
  expect(said(piece({ transcript: 'Hel' }), piece({}), piece({ transcript: 'lo' }))).toBe('Hello')
  expect(said(piece({}), piece({}))).toMatch(/^\[[^[]*"audio"[^[]*\]$/)
})
