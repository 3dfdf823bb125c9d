/** Requests and answers as clients have sent and got them, read into what is kept of them. */
import type { Block, Conversation, Turn } from '../conversation/conversation.ts'
import { fold } from '../conversation/fold.ts'
import { parseJson } from '../conversation/json.ts'
import type { Answer, Part, End } from '../conversation/parts.ts'
import { chat } from '../formats/chat/chat.ts'
import type { Format, Source } from '../formats/format.ts'
import { gemini } from '../formats/gemini/gemini.ts'
import { messages } from '../formats/messages/messages.ts'
import { responses } from '../formats/responses/responses.ts'
import { entryIn, fieldsOf, isRecord, type Fields, itemsOf, textOf } from '../wire/json.ts'
import type { ContentReading, LoggedAnswer, LoggedRequest } from '../observe/content/content.ts'
import { text } from '../formats/chat/text.ts'

type Reading = Pick<Format<never>, 'readRequest' | 'readAnswer' | 'eventReader'>

const completions: Reading = {
  ...chat,
  readRequest: readCompletionRequest,
  readAnswer: (body) => readCompletion([body]),
}

/** By the name of the endpoint. */
const formats: Readonly<Record<string, Reading>> = {
  'chat.completions': chat,
  completions,
  messages,
  responses,
  'content.generate': gemini,
  'content.stream': gemini,
}

const source: Source = { maker: '', failure: () => new Error('the stream ends with an error') }

/** How the requests and answers of endpoints are read for the content log. */
export const contentReading: ContentReading = {
  request: requestOf,
  answer: answerOf,
  events: (endpoint, stream, isWhole) => answerOfEvents(endpoint, eventsIn(stream), isWhole),
}

/** A conversation if it is one. */
function requestOf(endpoint: string, body: Fields): LoggedRequest {
  try {
    const conversation = entryIn(formats, endpoint)?.readRequest(body)
    if (conversation !== undefined) return { conversation: withoutState(conversation) }
  } catch {
    // The vendor may accept what is no valid request by the format's rules.
  }
  return { body }
}

function answerOf(endpoint: string, body: unknown): LoggedAnswer {
  // A stream of Google's API is a list without `alt=sse`.
  if (Array.isArray(body) && entryIn(formats, endpoint) === gemini) return answerOfEvents(endpoint, body, true)
  try {
    const answer = isRecord(body) ? entryIn(formats, endpoint)?.readAnswer(body, source) : undefined
    if (answer !== undefined) return { answer: withoutStates(answer) }
  } catch {
    // As above.
  }
  return { body }
}

/** The answer whose events these are, as far as they go. `isWhole`: whether they are all. */
function answerOfEvents(endpoint: string, events: readonly unknown[], isWhole: boolean): LoggedAnswer {
  const format = entryIn(formats, endpoint)
  if (format === undefined) return { body: events }
  if (format === completions) return { answer: readCompletion(events) }
  const parts: Part[] = []
  try {
    const reader = format.eventReader(source)
    for (const event of events) reader.read(fieldsOf(event), parts)
    if (isWhole) reader.end(parts)
  } catch {
    // The stream was cut, or ended with an error: what came before was delivered.
  }
  return parts.length === 0 && events.length > 0 ? { body: events } : { answer: withoutStates(fold(parts)) }
}

/** The JSON values in an event stream. The last one may be cut. */
function eventsIn(stream: string): unknown[] {
  const events: unknown[] = []
  for (const [, data = ''] of stream.matchAll(/^data: ?(.*)$/gm)) {
    if (data === '[DONE]') continue
    try {
      events.push(parseJson(data))
    } catch {
      return events
    }
  }
  return events
}

/** Only their makers can read signatures and sealed reasoning, and need them in the next request alone. */
function withoutState(conversation: Conversation): Conversation {
  return { ...conversation, turns: conversation.turns.map(plainTurn) }
}

function withoutStates(answer: Answer): Answer {
  return { ...answer, choices: answer.choices.map((choice) => ({ ...choice, blocks: choice.blocks.map(plainBlock) })) }
}

function plainTurn(turn: Turn): Turn {
  const { place: _, ...rest } = turn
  return { ...rest, blocks: turn.blocks.map(plainBlock) }
}

function plainBlock(given: Block): Block {
  const { state: _, place: __, ...block } = given
  if (block.kind !== 'result') return block
  return { ...block, blocks: block.blocks.map(plainBlock) }
}

/** Each prompt is a turn. Throws for prompts of tokens, which are no texts. */
function readCompletionRequest(body: Fields): Conversation {
  const { prompt } = body
  const prompts = Array.isArray(prompt) ? (prompt as unknown[]) : [prompt ?? '']
  if (!prompts.every((each) => typeof each === 'string')) throw new TypeError('a prompt is no text')
  const turns = prompts.map((each) => ({ role: 'user', blocks: [{ kind: 'text', text: each }] }) as const)
  return { ...text.readRequest({ ...body, prompt: '' }), turns }
}

/** Beyond any that the gateway serves. */
const mostChoices = 1_024
const reasons: Readonly<Record<string, End>> = { length: { reason: 'length' }, content_filter: { reason: 'filter' } }

/** Of a whole answer, or of the events of one. */
function readCompletion(pieces: readonly unknown[]): Answer {
  const choices: { text: string; end?: End }[] = []
  for (const choice of pieces.flatMap((piece) => itemsOf(fieldsOf(piece)['choices']).map(fieldsOf))) {
    const { index = 0, finish_reason: finish } = choice
    while (choices.length <= Number(index) && choices.length < mostChoices) choices.push({ text: '' })
    const known = choices[Number(index)]
    if (known === undefined) continue
    known.text += textOf(choice['text'])
    if (typeof finish === 'string') known.end = entryIn(reasons, finish) ?? { reason: 'stop' }
  }
  return { choices: choices.map(({ text: said, ...end }) => ({ blocks: [{ kind: 'text', text: said }], ...end })) }
}
