/** One event of an OpenAI-style chat stream, checked as far as the gateway looks into it. */
import { mostChoices, mostToolCalls, tooMany } from '../answer-bounds.ts'
import { retrySame } from '../failure.ts'
import type { ChatChunk } from '../../wire/chat.ts'

/** Throws when it is no JSON, or has another shape where the shape matters. Everything else is kept as it is. */
export function parseChunk(data: string): ChatChunk {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw retrySame(new Error('the vendor sent an event that is not JSON'))
  }
  if (!isChunk(value)) throw retrySame(new Error('the vendor sent an event that is no chunk of a chat'))
  return value
}

/**
 * What went wrong, as far as a frame speaks of it; undefined for a chunk. Servers that fail in the middle of a stream say
 * so in many forms, and may end it regularly: what has nothing of a chunk is one of them.
 */
export function faultIn(frame: ChatChunk, name: string): unknown {
  const { error, object, choices, usage, base_resp: base } = frame
  if (error) return error
  if (object === 'error' || /error|exception|fail/i.test(name)) return frame
  if (isRecord(base) && Boolean(base['status_code'])) return base
  if (choices || usage || name !== 'message' || Object.keys(frame).length === 0) return undefined
  const known = object === 'chat.completion.chunk' || object === 'text_completion' || isKeepAlive(frame['type'])
  return known || 'choices' in frame ? undefined : frame
}

/** Neither a piece of the answer nor a count: something to keep the connection alive, or to be read by others. */
export function saysNothing({ choices, usage }: ChatChunk): boolean {
  return !choices && !usage
}

function isKeepAlive(type: unknown): boolean {
  return typeof type === 'string' && /^(?:ping|heartbeat|keep-?alive)$/i.test(type)
}

function isChunk(value: unknown): value is ChatChunk {
  return isRecord(value) && (isNone(value['choices']) || isListOf(value['choices'], isChoice, mostChoices))
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && [value['delta'], value['message']].every((said) => isNone(said) || isDelta(said))
}

function isDelta(value: unknown): boolean {
  return isRecord(value) && (isNone(value['tool_calls']) || isListOf(value['tool_calls'], isCall, mostToolCalls))
}

function isCall(value: unknown): boolean {
  return isRecord(value) && (isNone(value['function']) || isRecord(value['function']))
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean, most: number): boolean {
  if (Array.isArray(value) && value.length > most) throw tooMany('pieces in one event', most)
  return Array.isArray(value) && value.every(isItem)
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
