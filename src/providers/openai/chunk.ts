/** One event of an OpenAI-style chat stream, checked as far as the gateway looks into it. */
import { unavailable } from '../failure.ts'
import type { ChatChunk } from '../../wire/chat.ts'

/** Throws when it is no JSON, or has another shape where the shape matters. Everything else is kept as it is. */
export function parseChunk(data: string): ChatChunk {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw unavailable('same', new Error('the vendor sent an event that is not JSON'))
  }
  if (!isChunk(value)) throw unavailable('same', new Error('the vendor sent an event that is no chunk of a chat'))
  return value
}

function isChunk(value: unknown): value is ChatChunk {
  return isRecord(value) && (isNone(value['choices']) || isListOf(value['choices'], isChoice))
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && (isNone(value['delta']) || isDelta(value['delta']))
}

function isDelta(value: unknown): boolean {
  return isRecord(value) && (isNone(value['tool_calls']) || isListOf(value['tool_calls'], isCall))
}

function isCall(value: unknown): boolean {
  return isRecord(value) && (isNone(value['function']) || isRecord(value['function']))
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem)
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
