/** What a model has made and the client's wire cannot hold. */
import { expect, test } from 'vitest'
import type { Block, Fields } from '../../src/conversation/conversation.ts'
import type { Part } from '../../src/conversation/parts.ts'
import { partsOf } from '../../src/conversation/unfold.ts'
import { chat } from '../../src/formats/chat/chat.ts'
import { text as completions } from '../../src/formats/chat/text.ts'
import { gemini } from '../../src/formats/gemini/gemini.ts'
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

test.each([messages, responses, completions])('$name says the words of a sound, or that there is one', (format) => {
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
  [completions, 'text'],
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

const wires = [
  [chat, 'content', 'content'],
  [completions, 'text', 'text'],
  [messages, 'text', 'text'],
  [responses, 'text', 'delta'],
  [gemini, 'text', 'text'],
] as const

test.each(wires)(
  '$name says in place of a block of another format what that means, whole and streamed',
  (format, inWhole, inEvents) => {
    const instead = [{ kind: 'text', text: 'A summary.' }] as const
    const own = {
      kind: 'own',
      format: format === messages ? 'chat' : 'messages',
      value: { type: 'x' },
      instead,
    } as const
    const choices = [{ blocks: [own, { kind: 'text', text: ' And on.' } as const], end: { reason: 'stop' } as const }]
    expect(textsIn(format.writeAnswer({ choices }, asked), inWhole)).toBe('A summary. And on.')
    expect(textsIn(written(format, partsOf({ choices }), asked), inEvents)).toBe('A summary. And on.')
  },
)

test.each(wires.slice(0, 4))(
  '$name tells of a file that the model has made, whole and streamed',
  (format, inWhole, inEvents) => {
    const source = { mediaType: 'video/mp4', base64: 'AAEC' }
    const choices = [{ blocks: [{ kind: 'media', type: 'file', source } as const], end: { reason: 'stop' } as const }]
    expect(textsIn(format.writeAnswer({ choices }, asked), inWhole)).toMatch(/^\[[^[]*"file"[^[]*\]$/)
    expect(textsIn(written(format, partsOf({ choices }), asked), inEvents)).toMatch(/^\[[^[]*"file"[^[]*\]$/)
  },
)

test('what is cited stands behind what a chat says in place of other blocks', () => {
  const instead = [{ kind: 'text', text: 'A summary.' }] as const
  const citation = { url: 'https://example.com', title: 'It', range: { start: 0, end: 2 } }
  const choices = [
    {
      blocks: [
        { kind: 'own', format: 'messages', value: { type: 'x' }, instead } as const,
        { kind: 'text', text: 'So', citations: [citation] } as const,
      ],
      end: { reason: 'stop' } as const,
    },
  ]
  const cited = { url_citation: { start_index: 10, end_index: 12 } }
  expect(chat.writeAnswer({ choices }, asked)).toMatchObject({ choices: [{ message: { annotations: [cited] } }] })
})
