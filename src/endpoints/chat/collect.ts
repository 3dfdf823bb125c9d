/** Pieces → one whole completion, for clients that do not stream from providers that do. */
import { ContentFrames, type ChatPiece } from '../../providers/contract.ts'
import { retrySame } from '../../providers/failure.ts'
import type { Tally } from '../../billing/receipt.ts'
import { textInChunks } from '../../billing/estimate.ts'
import type { ChatChunk, ChatCompletion, Choice, ChunkChoice, FinishReason } from '../../wire/chat.ts'
import type { ChunkState } from '../chunk-stream.ts'
import { readable } from '../readable.ts'
import type { FullChunk } from './stream-state.ts'

interface Gathered {
  readonly message: Record<string, unknown>
  readonly calls: Record<string, unknown>[]
  readonly logprobs: Record<string, unknown[]>
  /** What else the vendor says of the choice. */
  readonly extra: Record<string, unknown>
  finish: FinishReason
}

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
    meter.usage = state.usage
    meter.textBytes += textInChunks(chunks)
  }
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('frames were given to a call that asked for no stream')
    readable(() => accept(piece))
  }
  if (choices.size === 0) throw retrySame(new Error('the vendor ended the answer before its first word'))
  for (const { choices: taken = [] } of state.complete()) taken.forEach(take)

  const whole = [...choices]
    .sort(([left], [right]) => left - right)
    .map(([index, gathered]) => choiceOf(index, gathered))
  const { id, created, model } = state.last()
  // Padding of the single chunks.
  delete extra['obfuscation']
  const completion = { ...extra, id, created, model, object: 'chat.completion' as const, choices: whole }
  return state.usage === undefined ? completion : { ...completion, usage: state.usage }
}

function gather(into: Gathered, choice: ChunkChoice): void {
  const { delta, logprobs, finish_reason: reason, index: _, ...rest } = choice
  const { role: __, tool_calls: calls, ...told } = delta ?? {}
  for (const [name, value] of Object.entries(told)) join(into.message, name, value)
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

/** What comes whole each time, and is not continued. */
const wholes = new Set(['id', 'type', 'role', 'format'])

/**
 * Text is continued, lists are lengthened, objects joined field by field; anything else is replaced. Lists and objects in
 * `into` are copies, and grow in place: an answer of many pieces is read in one pass.
 */
function join(into: Record<string, unknown>, name: string, value: unknown): void {
  if (value === null || value === undefined) return
  const sofar = into[name]
  if (typeof value === 'string' && typeof sofar === 'string') into[name] = wholes.has(name) ? value : sofar + value
  else if (Array.isArray(value)) {
    if (Array.isArray(sofar)) lengthen(sofar, value)
    else into[name] = [...(value as unknown[])]
  } else if (typeof value !== 'object') into[name] = value
  else {
    const known = typeof sofar === 'object' && sofar !== null && !Array.isArray(sofar)
    const fields = known ? (sofar as Record<string, unknown>) : emptyRecord()
    into[name] = fields
    for (const [field, piece] of Object.entries(value)) join(fields, field, piece)
  }
}

/** A list of a vendor may be longer than a call takes arguments. */
function lengthen(list: unknown[], more: readonly unknown[]): void {
  for (const each of more) list.push(each)
}

/** Without a prototype: a name such as `__proto__` is a name. */
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
