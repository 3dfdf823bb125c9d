/** Pieces → one whole completion, for clients that do not stream from providers that do. */
import { ContentFrames, type ChatPiece } from '../../providers/contract.ts'
import { unavailable } from '../../providers/failure.ts'
import type { Tally } from '../../billing/receipt.ts'
import { estimateChunks } from '../../billing/estimate.ts'
import type { ChatChunk, ChatCompletion, Choice, ChunkChoice, FinishReason } from '../../wire/chat.ts'
import type { ChunkState } from '../chunk-stream.ts'
import type { FullChunk } from './stream-state.ts'

interface Gathered {
  readonly message: Record<string, unknown>
  readonly calls: object[]
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
  let extra: Record<string, unknown> = {}
  const take = (choice: ChunkChoice) => {
    const index = choice.index ?? 0
    let gathered = choices.get(index)
    if (gathered === undefined) {
      gathered = {
        message: { role: 'assistant', content: null, refusal: null },
        calls: [],
        logprobs: {},
        extra: {},
        finish: 'stop',
      }
      choices.set(index, gathered)
    }
    gather(gathered, choice)
  }
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('frames were given to a call that asked for no stream')
    const chunks = state.accept(piece)
    for (const { choices: taken = [], id: _, object: __, created: ___, model: ____, ...rest } of chunks) {
      extra = { ...extra, ...rest }
      taken.forEach(take)
    }
    meter.usage = state.usage
    meter.estimatedCompletionTokens += estimateChunks(chunks)
  }
  if (choices.size === 0) throw unavailable('same', new Error('the vendor ended the answer before its first word'))
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
  for (const [name, value] of Object.entries(told)) into.message[name] = joined(into.message[name], value, name)
  for (const { index = 0, ...piece } of calls ?? []) into.calls[index] = joined(into.calls[index], piece) as object
  for (const [name, tokens] of Object.entries((logprobs ?? {}) as Record<string, unknown>)) {
    if (Array.isArray(tokens)) (into.logprobs[name] ??= []).push(...tokens)
  }
  Object.assign(into.extra, rest)
  if (reason) into.finish = reason as FinishReason
}

/** What comes whole each time, and is not continued. */
const wholes = new Set(['id', 'type', 'role', 'format'])

/** Text is continued, lists are lengthened, objects joined field by field; anything else is replaced. */
function joined(sofar: unknown, value: unknown, field?: string): unknown {
  if (value === null || value === undefined) return sofar
  if (typeof value === 'string' && typeof sofar === 'string') return wholes.has(field ?? '') ? value : sofar + value
  if (Array.isArray(value)) return Array.isArray(sofar) ? [...sofar, ...value] : value
  if (typeof value !== 'object' || typeof sofar !== 'object' || sofar === null) return value
  const whole: Record<string, unknown> = { ...sofar }
  for (const [name, piece] of Object.entries(value)) whole[name] = joined(whole[name], piece, name)
  return whole
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
