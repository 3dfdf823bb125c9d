import { ContentFrames, type ChatPiece } from '../../providers/contract.ts'
import { billed, unreadable } from '../../providers/failure.ts'
import type { Tally } from '../../money/tally.ts'
import { textInChunks } from '../../money/prices/estimate.ts'
import type { ChatChunk, ChatCompletion, Choice, ChunkChoice, FinishReason } from '../../wire/chat.ts'
import { tell, type ChunkState } from '../chunk-stream.ts'
import { readVendor } from '../read-vendor.ts'
import type { FullChunk } from './stream-state.ts'

interface Gathered {
  readonly message: Record<string, unknown>
  readonly calls: Record<string, unknown>[]
  readonly logprobs: Record<string, unknown[]>
  /** Further fields of the choice. */
  readonly extra: Record<string, unknown>
  finish: FinishReason
}

/** Combines the pieces of a stream into one completion, for clients that do not stream from providers that do. */
export async function collect(
  pieces: AsyncIterable<ChatPiece>,
  state: ChunkState<ChatChunk, FullChunk>,
  meter: Tally,
): Promise<ChatCompletion> {
  const choices = new Map<number, Gathered>()
  const extra = emptyRecord()
  const take = (choice: ChunkChoice) => {
    const index = choice.index ?? 0
    let gathered = choices.get(index)
    if (gathered === undefined) {
      const message = Object.assign(emptyRecord(), { role: 'assistant', content: null, refusal: null })
      gathered = { message, calls: [], logprobs: {}, extra: emptyRecord(), finish: 'stop' }
      choices.set(index, gathered)
    }
    gather(gathered, choice)
  }
  const accept = (piece: ChatChunk) => {
    const chunks = state.accept(piece)
    for (const { choices: taken = [], id: _, object: __, created: ___, model: ____, ...rest } of chunks) {
      Object.assign(extra, rest)
      taken.forEach(take)
    }
    tell(meter, state)
    meter.textBytes += textInChunks(chunks)
  }
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('the provider returned frames for a non-streaming call')
    readVendor(
      () => accept(piece),
      () => state.usage,
    )
  }
  if (choices.size === 0) throw billed(unreadable('the vendor ended the response before any content'), state.usage)
  for (const { choices: taken = [] } of state.complete()) taken.forEach(take)

  const whole = [...choices]
    .sort(([left], [right]) => left - right)
    .map(([index, gathered]) => choiceOf(index, gathered))
  const { id, created, model } = state.last()
  // Random padding of each chunk.
  delete extra['obfuscation']
  // Required by clients that validate.
  const completion = {
    system_fingerprint: null,
    ...extra,
    id,
    created,
    model,
    object: 'chat.completion' as const,
    choices: whole,
  }
  return state.usage === undefined ? completion : { ...completion, usage: state.usage }
}

function gather(into: Gathered, choice: ChunkChoice): void {
  const { delta, logprobs, finish_reason: reason, index: _, ...rest } = choice
  const { role: __, tool_calls: calls, ...content } = delta ?? {}
  for (const [name, value] of Object.entries(content)) join(into.message, name, value)
  for (const { index = 0, ...piece } of calls ?? []) {
    const call = (into.calls[index] ??= emptyRecord())
    for (const [name, value] of Object.entries(piece)) join(call, name, value)
  }
  for (const [name, tokens] of Object.entries((logprobs ?? {}) as Record<string, unknown>)) {
    if (Array.isArray(tokens)) lengthen((into.logprobs[name] ??= []), tokens)
  }
  Object.assign(into.extra, rest)
  if (reason) into.finish = reason as FinishReason
}

/** Strings that are repeated instead of continued. */
const repeated = new Set(['id', 'type', 'role', 'format'])

/**
 * Appends strings and lists, merges objects field by field and replaces anything else. Lists and objects in `into` are
 * copies that grow in place, so that a response of many pieces takes linear time.
 */
function join(into: Record<string, unknown>, name: string, value: unknown): void {
  if (value === null || value === undefined) return
  const before = into[name]
  if (typeof value === 'string' && typeof before === 'string') into[name] = repeated.has(name) ? value : before + value
  else if (Array.isArray(value)) {
    if (Array.isArray(before)) lengthen(before, value)
    else into[name] = [...(value as unknown[])]
  } else if (typeof value !== 'object') into[name] = value
  else {
    const known = typeof before === 'object' && before !== null && !Array.isArray(before)
    const fields = known ? (before as Record<string, unknown>) : emptyRecord()
    into[name] = fields
    for (const [field, piece] of Object.entries(value)) join(fields, field, piece)
  }
}

/** Appends in a loop, because `push(...more)` fails for very long lists. */
function lengthen(list: unknown[], more: readonly unknown[]): void {
  for (const each of more) list.push(each)
}

/** Without a prototype, so that a field named `__proto__` is stored like any other. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

function choiceOf(index: number, { message, calls, logprobs, finish, extra }: Gathered): Choice {
  const content = message['content'] === '' && calls.length > 0 ? null : message['content']
  return {
    ...extra,
    index,
    message: { ...message, content, ...(calls.length > 0 && { tool_calls: calls }) } as unknown as Choice['message'],
    logprobs: Object.keys(logprobs).length === 0 ? null : { content: [], refusal: [], ...logprobs },
    finish_reason: finish,
  }
}
