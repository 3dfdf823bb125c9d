/** Pieces → one whole completion, for clients that do not stream from providers that do. */
import { ContentFrames, type ChatPiece } from '../../providers/contract.ts'
import { unavailable } from '../../providers/failure.ts'
import type { Tally } from '../../billing/receipt.ts'
import { estimateTokens } from '../../billing/usage.ts'
import type { ChatChunk, ChatCompletion, Choice, ChunkChoice, FinishReason } from '../../wire/chat.ts'
import type { ChunkState } from '../chunk-stream.ts'
import type { FullChunk } from './stream-state.ts'

interface Gathered {
  readonly message: Record<string, unknown>
  readonly calls: Record<string, unknown>[]
  readonly logprobs: Record<string, unknown[]>
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
        finish: 'stop',
      }
      choices.set(index, gathered)
    }
    gather(gathered, choice)
  }
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('frames were given to a call that asked for no stream')
    for (const { choices: taken = [], id: _, object: __, created: ___, model: ____, ...rest } of state.accept(piece)) {
      extra = { ...extra, ...rest }
      taken.forEach(take)
    }
    meter.usage = state.usage
  }
  if (choices.size === 0) throw unavailable('same', new Error('the vendor ended the answer before its first word'))
  for (const { choices: taken = [] } of state.complete()) taken.forEach(take)

  const whole = [...choices]
    .sort(([left], [right]) => left - right)
    .map(([index, gathered]) => choiceOf(index, gathered))
  meter.estimatedCompletionTokens = estimateTokens(JSON.stringify(whole.map((choice) => choice.message)).length)
  const { id, created, model } = state.last()
  const completion = { ...extra, id, created, model, object: 'chat.completion' as const, choices: whole }
  return state.usage === undefined ? completion : { ...completion, usage: state.usage }
}

function gather(into: Gathered, choice: ChunkChoice): void {
  const { role: _, tool_calls: calls, ...delta } = choice.delta ?? {}
  for (const [name, value] of Object.entries(delta)) into.message[name] = joined(into.message[name], value)
  for (const { index = 0, ...piece } of calls ?? []) {
    const call = (into.calls[index] ??= {})
    for (const [name, value] of Object.entries(piece)) call[name] = callField(call[name], value)
  }
  for (const [name, tokens] of Object.entries((choice.logprobs ?? {}) as Record<string, unknown>)) {
    if (Array.isArray(tokens)) (into.logprobs[name] ??= []).push(...tokens)
  }
  if (choice.finish_reason) into.finish = choice.finish_reason as FinishReason
}

/** Text is continued, lists are lengthened, anything else is replaced. */
function joined(sofar: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return sofar
  if (typeof value === 'string' && typeof sofar === 'string') return sofar + value
  if (Array.isArray(value) && Array.isArray(sofar)) return [...sofar, ...value]
  return value
}

/** The pieces of `function` and `custom` hold text to be continued; id and type come once. */
function callField(sofar: unknown, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || typeof sofar !== 'object' || sofar === null) return value
  const whole: Record<string, unknown> = { ...sofar }
  for (const [name, piece] of Object.entries(value)) whole[name] = joined(whole[name], piece)
  return whole
}

function choiceOf(index: number, { message, calls, logprobs, finish }: Gathered): Choice {
  const content = message['content'] === '' && calls.length > 0 ? null : message['content']
  return {
    index,
    message: { ...message, content, ...(calls.length > 0 && { tool_calls: calls }) } as unknown as Choice['message'],
    logprobs: Object.keys(logprobs).length === 0 ? null : { content: [], refusal: [], ...logprobs },
    finish_reason: finish,
  }
}
