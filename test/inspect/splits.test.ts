/** Placeholders and words in recorded streams of every vendor, split anywhere. */
import { mask, type Edit, type InspectedCall, type Inspector } from 'modelhatch'
import { describe, expect, test } from 'vitest'
import { fold } from '../../src/conversation/fold.ts'
import type { Part } from '../../src/conversation/parts.ts'
import { chat } from '../../src/endpoints/chat/chat.ts'
import type { Context } from '../../src/endpoints/endpoint.ts'
import { AnswerStage } from '../../src/inspect/answer-stage.ts'
import { Inspection } from '../../src/inspect/inspection.ts'
import type { Call, Provider } from '../../src/providers/index.ts'
import { resultOfChunks } from '../../src/testing/chat-result.ts'
import type { ChatRequest } from '../../src/wire/chat.ts'
import { readers } from '../endpoints/messages/relayed.ts'
import { eventsIn, wireOf, type Wire } from '../formats/recorded-wires.ts'
import { sampleOf } from '../long.ts'
import { bytesOf, cutsOf, recordedVendors, recordingsOf, type Recording } from '../providers/recordings.ts'
import { hasShared } from '../shared.ts'

const inspected: InspectedCall = { id: 'req_1', endpoint: 'e', model: 'm', caller: { account: 'a', group: 'g' } }
const asking = {
  call: inspected,
  failed(error: unknown) {
    throw error
  },
}
const failure = (error: unknown) => new Error('in the stream', { cause: error })

const streams = recordedVendors
  .flatMap(recordingsOf)
  .filter(({ stream, expect: { error, finish_reason: end } }) => stream && error === undefined && end !== undefined)

/** The parts of a recorded stream. */
function partsIn(recording: Recording): Part[] {
  const { format, maker } = wireOf(recording) as Wire
  const reader = format.eventReader({ maker, failure })
  const parts: Part[] = []
  for (const event of eventsIn(recording)) reader.read(event, parts)
  reader.end(parts)
  return parts
}

/** The mask of a request with this value, and its placeholder. */
async function masked(value: string): Promise<{ inspector: Inspector; placeholder: string }> {
  const made = mask({ patterns: ['email'], key: 'a secret' })
  const inspector = (typeof made === 'function' ? made(inspected) : made) as Inspector
  const blocks = [{ kind: 'text', text: value }] as const
  const verdict = await inspector.request?.({ turns: [{ role: 'user', blocks }], tools: [], settings: {} }, inspected)
  const [block] = verdict && 'conversation' in verdict ? (verdict.conversation.turns[0]?.blocks ?? []) : []
  return { inspector, placeholder: block?.kind === 'text' ? block.text : '' }
}

type Spoken = Part & { readonly kind: 'text' | 'refusal' | 'input' }

describe.skipIf(!hasShared)('in a recorded stream', () => {
  const email = 'ada@example.org'

  test.each(streams.filter((recording) => wireOf(recording) !== undefined))(
    'a placeholder is found wherever it stands and is split: $vendor $file',
    async (recording) => {
      const parts = partsIn(recording)
      const { inspector, placeholder } = await masked(email)
      expect(placeholder).toMatch(/^EMAIL_[A-Z]{8}$/)
      const spoken = parts.flatMap((part, at) =>
        part.kind === 'text' || part.kind === 'refusal' || part.kind === 'input' ? [{ part, at }] : [],
      )
      const places = spoken.flatMap(({ part, at }) =>
        Array.from({ length: part.text.length + 1 }, (_, offset) => ({ part, at, offset })),
      )
      const splits = Array.from({ length: placeholder.length + 1 }, (_, split) => split)
      const cases = places.flatMap((place) => splits.map((split) => ({ ...place, split })))
      for (const { part, at, offset, split } of sampleOf(cases, Math.max(1, Math.floor(cases.length / 60)))) {
        const { text } = part
        // Half of a character is no text.
        if (/[\uD800-\uDBFF]/.test(text[offset - 1] ?? '')) continue
        const said = (more: string): Spoken => ({ ...part, text: more })
        const planted = [
          ...parts.slice(0, at),
          said(text.slice(0, offset) + placeholder.slice(0, split)),
          said(placeholder.slice(split) + text.slice(offset)),
          ...parts.slice(at + 1),
        ]
        const stage = new AnswerStage(inspector, asking, { isJson: false, choices: 1 })
        const passed: Part[] = []
        for (const each of planted) passed.push(...(await stage.take([each])))
        const whole = [
          ...parts.slice(0, at),
          said(text.slice(0, offset) + email + text.slice(offset)),
          ...parts.slice(at + 1),
        ]
        expect(withoutLogprobs(fold(passed)), `at ${at}.${offset}, split at ${split}`).toEqual(
          withoutLogprobs(fold(whole)),
        )
      }
    },
  )

  test.each(
    streams.filter(({ wire, expect: { content } }) => readers[wire] !== undefined && /\w{4}/.test(content ?? '')),
  )(
    'a word is replaced wherever the bytes are split: $vendor $file',
    async ({ wire, vendor, file, expect: { content = '' } }) => {
      const bytes = bytesOf({ vendor, file } as never)
      const words = content.match(/\p{L}{4,30}/gu) ?? []
      const word = words.reduce((longest, each) => (each.length > longest.length ? each : longest))
      const replacing: Inspector = {
        answer({ text, kind }) {
          if (kind !== 'text') return undefined
          const edits: Edit[] = []
          for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
            edits.push({ start: at, end: at + word.length, text: '▇' })
          return { edits }
        },
        holdBack: { characters: word.length, ms: Infinity },
      }
      for (const cut of cutsOf(bytes))
        expect(await contentOf(wire, [bytes.subarray(0, cut), bytes.subarray(cut)], replacing), `cut at ${cut}`).toBe(
          content.replaceAll(word, '▇'),
        )
    },
  )
})

function withoutLogprobs(answer: ReturnType<typeof fold>) {
  const choices = answer.choices.map((choice) => ({
    ...choice,
    blocks: choice.blocks.map((block) => ({ ...block, logprobs: undefined })),
  }))
  return { ...answer, choices }
}

const request = { model: 'm', stream: true, messages: [{ role: 'user' as const, content: 'Hi' }] }
const field = (name: string) => (request as Record<string, unknown>)[name]

/** What a client of chats gets of a stream in these pieces. */
async function contentOf(wire: string, pieces: readonly Buffer[], inspector: Inspector): Promise<string> {
  async function* source() {
    yield* pieces
  }
  const meter = { usage: undefined, textBytes: 0, omit() {} }
  const order = { ...request, request, field, promptTokens: 10 }
  const inspection = new Inspection([inspector], asking)
  const context = { id: 'req_1', startedAt: 1_000, order, meter, inspection, inParts: true }
  const call = { ...order, model: 'theirs', publicModel: 'm', json: () => Buffer.from('{}') }
  const provider = { name: 'p', ...readers[wire]?.(source()) } as Provider
  const answer = await chat.ask(
    provider,
    call as unknown as Call<ChatRequest>,
    context as unknown as Context<ChatRequest>,
  )
  let frames = ''
  for await (const frame of chat.frames?.(answer, context as unknown as Context<ChatRequest>, false) ?? [])
    frames += typeof frame === 'string' ? frame : Buffer.from(frame).toString('utf8')
  const chunks = frames.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  const result = await resultOfChunks(chunks.map((frame) => JSON.parse(frame.slice('data: '.length)) as unknown))
  return result.content
}
