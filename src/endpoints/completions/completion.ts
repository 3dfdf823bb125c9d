/** Whole text completions: gathered from chunks, brought into the one form, and taken apart again. */
import type { Tally } from '../../billing/receipt.ts'
import { readUsage } from '../../wire/counts.ts'
import { ContentFrames, type CompletionPiece } from '../../providers/contract.ts'
import { retrySame } from '../../providers/failure.ts'
import type { TextChoice, TextChunk, TextChunkChoice, TextCompletion } from '../../wire/completions.ts'
import type { AnswerHead } from '../chunk-answer.ts'
import type { ChunkState } from '../chunk-stream.ts'
import { readable } from '../readable.ts'
import { textFinishOf, type FullTextChunk } from './stream-state.ts'

export async function collectText(
  pieces: AsyncIterable<CompletionPiece>,
  state: ChunkState<TextChunk, FullTextChunk>,
  meter: Tally,
): Promise<TextCompletion> {
  const choices = new Map<number, TextChoice>()
  const take = (choice: TextChunkChoice) => {
    const index = choice.index ?? 0
    choices.set(index, joined(choices.get(index), { ...choice, index }))
  }
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('frames were given to a call that asked for no stream')
    readable(() => {
      for (const chunk of state.accept(piece)) chunk.choices?.forEach(take)
    })
    meter.usage = state.usage
  }
  if (choices.size === 0) throw retrySame(new Error('the vendor ended the answer before its first word'))
  for (const chunk of state.complete()) chunk.choices?.forEach(take)

  const whole = [...choices.values()].sort((left, right) => left.index - right.index)
  meter.textBytes = whole.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const { id, created, model } = state.last()
  const completion = { id, object: 'text_completion' as const, created, model, choices: whole }
  return state.usage === undefined ? completion : { ...completion, usage: state.usage }
}

function joined(sofar: TextChoice | undefined, piece: TextChunkChoice & { index: number }): TextChoice {
  const { text, logprobs, finish_reason: finish, ...rest } = piece
  return {
    ...rest,
    text: (sofar?.text ?? '') + (text ?? ''),
    logprobs: lengthened(sofar?.logprobs, logprobs),
    finish_reason: textFinishOf(finish) ?? sofar?.finish_reason ?? 'stop',
  }
}

/** The lists of `tokens`, `token_logprobs`, `top_logprobs` and `text_offset`, each with what has come. */
function lengthened(sofar: unknown, piece: unknown): unknown {
  if (!piece || !sofar) return piece || sofar || null
  const lists = sofar as Record<string, unknown>
  const whole: Record<string, unknown> = { ...lists }
  for (const [name, list] of Object.entries(piece)) {
    whole[name] = Array.isArray(lists[name]) && Array.isArray(list) ? [...lists[name], ...list] : list
  }
  return whole
}

/** The same object is given back where nothing had to change. */
export function textCompletionOf(raw: TextCompletion, head: AnswerHead, renamed: boolean): TextCompletion {
  if (!Array.isArray(raw.choices) || raw.choices.length === 0) {
    throw retrySame(new Error('the vendor answered without a choice'))
  }
  const changes: Record<string, unknown> = {}
  if (!raw.id) changes['id'] = head.id
  if (raw.object !== 'text_completion') changes['object'] = 'text_completion'
  if (!raw.created) changes['created'] = head.created
  if (!raw.model || renamed) changes['model'] = head.model
  const choices = raw.choices.map(choiceOf)
  if (choices.some((choice, index) => choice !== raw.choices[index])) changes['choices'] = choices
  const usage = readUsage(raw.usage)
  if (usage !== raw.usage) changes['usage'] = usage
  return Object.keys(changes).length === 0 ? raw : { ...raw, ...changes }
}

function choiceOf(raw: TextChoice, position: number): TextChoice {
  const changes: Record<string, unknown> = {}
  if (raw.index === undefined) changes['index'] = position
  if (typeof raw.text !== 'string') changes['text'] = ''
  if (raw.logprobs === undefined) changes['logprobs'] = null
  const finish = textFinishOf(raw.finish_reason) ?? 'stop'
  if (finish !== raw.finish_reason) changes['finish_reason'] = finish
  return Object.keys(changes).length === 0 ? raw : { ...raw, ...changes }
}

export async function* explodeText(completion: TextCompletion): AsyncGenerator<TextChunk, void, void> {
  const { choices, usage, object: _, ...rest } = completion
  for (const choice of choices) yield { ...rest, choices: [choice] }
  if (usage !== undefined) yield { ...rest, choices: [], usage }
}
