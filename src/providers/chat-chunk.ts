/** Parses one event of an OpenAI-style chat stream, and validates the parts that the gateway reads. */
import { maxChoices, maxToolCalls, tooMany } from './answer-bounds.ts'
import { unreadable } from './failure.ts'
import { jsonIn } from './framing.ts'
import type { ChatChunk } from '../wire/chat.ts'
import { isRecord } from '../wire/json.ts'

/** Throws if the data is not JSON, or if a part that the gateway reads has the wrong type. Keeps unknown fields. */
export function parseChunk(data: string): ChatChunk {
  const value = jsonIn(data)
  if (!isChunk(value)) throw unreadable('the vendor sent an event that is not a chat chunk')
  return value
}

/**
 * The error object of an event that reports a failure; undefined for a chunk. Servers that fail in the middle of a stream
 * report it in many forms and may then end the stream normally, so an event without any field of a chunk counts as one.
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

/** Whether an event has neither content nor usage: a keep-alive, or metadata for other clients. */
export function saysNothing({ choices, usage }: ChatChunk): boolean {
  return !choices && !usage
}

function isKeepAlive(type: unknown): boolean {
  return typeof type === 'string' && /^(?:ping|heartbeat|keep-?alive)$/i.test(type)
}

function isChunk(value: unknown): value is ChatChunk {
  return isRecord(value) && (isNone(value['choices']) || isListOf(value['choices'], isChoice, maxChoices))
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && [value['delta'], value['message']].every((delta) => isNone(delta) || isDelta(delta))
}

function isDelta(value: unknown): boolean {
  return isRecord(value) && (isNone(value['tool_calls']) || isListOf(value['tool_calls'], isCall, maxToolCalls))
}

function isCall(value: unknown): boolean {
  return isRecord(value) && (isNone(value['function']) || isRecord(value['function']))
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean, max: number): boolean {
  if (Array.isArray(value) && value.length > max) throw tooMany('pieces in one event', max)
  return Array.isArray(value) && value.every(isItem)
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null
}
