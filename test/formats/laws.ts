/** Laws that every wire format keeps, checked with conversations and answers that the format can say. */
import { assert, property, type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import type { Conversation, Fields, Turn } from '../../src/conversation/conversation.ts'
import { fold } from '../../src/conversation/fold.ts'
import { parseJson } from '../../src/conversation/json.ts'
import type { Answer, Part } from '../../src/conversation/parts.ts'
import { partsOf } from '../../src/conversation/unfold.ts'
import type { Asked, Format, OutEvent, Source, Target } from '../../src/formats/format.ts'
import { long } from '../long.ts'

/** For `assert`. */
export const runs: { readonly numRuns: number; readonly seed: number } = { numRuns: long ? 100_000 : 300, seed: 25 }

/** What a test of a format needs of it, under the law's own names. */
export interface Requests<Traits> {
  readonly format: Pick<Format<Traits>, 'readRequest' | 'writeRequest'>
  /** A vendor that takes all that the format can say. */
  readonly target: Omit<Target<Traits>, 'omit'>
  readonly conversations: Arbitrary<Conversation>
  /** The conversation as the wire says it, where it has one way for several. */
  readonly normal?: (conversation: Conversation) => Conversation
}

/** A request that was written means the same when it is read. */
export function requestLaw<Traits>({ format, target, conversations, normal = same }: Requests<Traits>): void {
  it('reads the conversation that it has written', () => {
    assert(
      property(conversations, (conversation) => {
        const body = wire(format.writeRequest(conversation, { ...target, omit: refuseOmission }))
        expect(said(format.readRequest(body))).toStrictEqual(said(normal(conversation)))
      }),
      runs,
    )
  })
}

function refuseOmission(place: string, why: string): never {
  throw new Error(`"${place}" was left out: ${why}`)
}

/** What a test of prefixes needs. */
export interface Prefixes<Traits> extends Omit<Requests<Traits>, 'format' | 'normal'> {
  readonly format: Pick<Format<Traits>, 'writeRequest'>
  /** The fields whose text must not change from turn to turn, and the list that only grows. */
  readonly fixed: readonly string[]
  readonly growing: string
}

/** What is sent in one turn begins what is sent in the next one, byte for byte: vendors cache what they have read. */
export function prefixLaw<Traits>({ format, target, conversations, fixed, growing }: Prefixes<Traits>): void {
  it('begins each turn with what it sent in the turn before', () => {
    assert(
      property(conversations, (conversation) => {
        const ends = conversation.turns.flatMap((turn, index) => (isQuestion(turn) ? [index + 1] : []))
        for (const end of ends) {
          const turns = conversation.turns.slice(0, end)
          const next: Turn[] = [
            { role: 'assistant', blocks: [{ kind: 'text', text: 'Yes.' }] },
            { role: 'user', blocks: [{ kind: 'text', text: 'And then?' }] },
          ]
          const to = { ...target, omit: ignore }
          const before = wire(format.writeRequest({ ...conversation, turns }, to))
          const after = wire(format.writeRequest({ ...conversation, turns: [...turns, ...next] }, to))
          for (const name of fixed) expect(after[name]).toStrictEqual(before[name])
          expect(bytesOf(after[growing]).startsWith(bytesOf(before[growing]))).toBe(true)
        }
      }),
      runs,
    )
  })
}

/** The list without its end. */
function bytesOf(list: unknown): string {
  return JSON.stringify(list).slice(0, -1)
}

function isQuestion({ role, blocks }: Turn): boolean {
  return role === 'user' && blocks.length > 0 && blocks.every(({ kind }) => kind !== 'result')
}

/** What a test of answers needs of a format. */
export interface Answers<Traits> {
  readonly format: Pick<Format<Traits>, 'readAnswer' | 'writeAnswer' | 'eventReader' | 'eventWriter'>
  readonly answers: Arbitrary<Answer>
  readonly asked?: Asked
  readonly from?: Source
  /** The answer as the wire says it, applied to both sides. */
  readonly normal?: (answer: Answer) => Answer
}

export const asked: Asked = { id: 'answer_1', created: 1, model: 'public', usage: true, reasoning: 'shown' }

export const from: Source = { maker: 'maker', failure: (error) => new Error(JSON.stringify(error)) }

/** An answer means the same whole, in parts, and as events. */
export function answerLaws<Traits>(given: Answers<Traits>): void {
  const { format, answers, normal = same } = given
  const to = given.asked ?? asked
  const source = given.from ?? from
  const meaning = (answer: Answer) => said(normal(answer))

  it('reads the whole answer that it has written', () => {
    assert(
      property(answers, (answer) => {
        expect(meaning(format.readAnswer(wire(format.writeAnswer(answer, to)), source))).toStrictEqual(meaning(answer))
      }),
      runs,
    )
  })

  it('reads the events that it has written', () => {
    assert(
      property(answers, (answer) => {
        const events = written(format, partsOf(answer), to)
        expect(meaning(fold(read(format, events, source)))).toStrictEqual(meaning(answer))
      }),
      runs,
    )
  })
}

/** The events of a format for these parts. */
export function written(
  format: Pick<Format<unknown>, 'eventWriter'>,
  parts: readonly Part[],
  to: Asked = asked,
): readonly OutEvent[] {
  const events: OutEvent[] = []
  const writer = format.eventWriter(to)
  for (const part of parts) writer.write(part, events)
  writer.end(events)
  return events
}

/** The parts in the events of a format. */
export function read(
  format: Pick<Format<unknown>, 'eventReader'>,
  events: readonly OutEvent[],
  source: Source = from,
): readonly Part[] {
  const parts: Part[] = []
  const reader = format.eventReader(source)
  for (const event of events) reader.read(wire(event), parts)
  reader.end(parts)
  return parts
}

/** A value after its way through JSON text, large integers included. */
export function wire(value: Fields): Fields {
  return parseJson(JSON.stringify(value)) as Fields
}

/** What a value says, without where it stood. Values of a number's text are compared as text. */
export function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said)
  if (typeof value !== 'object' || value === null) return value
  if (JSON.isRawJSON(value)) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([name, each]) => name !== 'place' && each !== undefined)
  return Object.fromEntries(fields.map(([name, each]) => [name, said(each)]))
}

function same<Value>(value: Value): Value {
  return value
}

function ignore(): void {
  // Nothing is checked of what was left out.
}
