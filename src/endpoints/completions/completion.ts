/** Non-streaming text completions: collected from chunks, normalised, and split into chunks. */
import { readUsage } from '../../wire/counts.ts'
import { ContentFrames, type CompletionPiece } from '../../providers/contract.ts'
import { billed, unreadable } from '../../providers/failure.ts'
import type { TextChoice, TextChunk, TextChunkChoice, TextCompletion } from '../../wire/completions.ts'
import { namedAs, type AnswerHead } from '../chunk-facts.ts'
import { textOf, withValues } from '../../wire/json.ts'
import { readVendor } from '../read-vendor.ts'
import type { ChunkState } from '../chunk-stream.ts'
import { textFinishOf, type FullTextChunk } from './stream-state.ts'

/** Combines the pieces of a stream into one completion, for clients that do not stream from providers that do. */
export async function collectText(
  pieces: AsyncIterable<CompletionPiece>,
  state: ChunkState<TextChunk, FullTextChunk>,
): Promise<TextCompletion> {
  const choices = new Map<number, TextChoice>()
  const take = (choice: TextChunkChoice) => {
    const index = choice.index ?? 0
    choices.set(index, extendedChoice(choices.get(index), { ...choice, index }))
  }
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('the provider returned frames for a non-streaming call')
    readVendor(
      () => state.accept(piece).forEach((chunk) => chunk.choices?.forEach(take)),
      () => state.usage,
    )
  }
  if (choices.size === 0) throw billed(unreadable('the vendor ended the response before any content'), state.usage)
  for (const chunk of state.complete()) chunk.choices?.forEach(take)
  const { usage, serviceTier } = state
  const { id, object, created, model } = state.last()
  const whole = [...choices.values()].sort((left, right) => left.index - right.index)
  return {
    id,
    object,
    created,
    model,
    choices: whole,
    service_tier: serviceTier,
    ...(usage && { usage }),
  }
}

function extendedChoice(before: TextChoice | undefined, piece: TextChunkChoice & { index: number }): TextChoice {
  const { text, logprobs, finish_reason: finish, ...rest } = piece
  return {
    ...rest,
    text: (before?.text ?? '') + (text ?? ''),
    logprobs: lengthened(before?.logprobs, logprobs),
    finish_reason: textFinishOf(finish) ?? before?.finish_reason ?? 'stop',
  }
}

/** Appends to each of the lists `tokens`, `token_logprobs`, `top_logprobs` and `text_offset`. */
function lengthened(before: unknown, piece: unknown): unknown {
  if (!piece || !before) return piece || before || null
  const lists = before as Record<string, unknown>
  const whole: Record<string, unknown> = { ...lists }
  for (const [name, list] of Object.entries(piece)) {
    whole[name] = Array.isArray(lists[name]) && Array.isArray(list) ? [...lists[name], ...list] : list
  }
  return whole
}

/**
 * Normalises a vendor's non-streaming completion; the same object if nothing has to change. Throws if it is malformed.
 */
export function textCompletionOf(raw: TextCompletion, head: AnswerHead, renamed: boolean): TextCompletion {
  if (!Array.isArray(raw.choices) || raw.choices.length === 0) {
    throw unreadable('the response of the vendor has no choices')
  }
  const choices = raw.choices.map(choiceOf)
  return withValues(raw, {
    ...namedAs(raw, head, renamed),
    object: 'text_completion',
    choices: choices.some((choice, index) => choice !== raw.choices[index]) ? choices : raw.choices,
    usage: readUsage(raw.usage),
  })
}

function choiceOf(raw: TextChoice, position: number): TextChoice {
  return withValues(raw, {
    index: raw.index ?? position,
    text: textOf(raw.text),
    logprobs: raw.logprobs ?? null,
    finish_reason: textFinishOf(raw.finish_reason) ?? 'stop',
  })
}

/** Splits a completion into chunks, for clients that stream from providers that do not. */
export async function* chunksOfText(completion: TextCompletion): AsyncGenerator<TextChunk, void, void> {
  const { choices, usage, object: _, ...rest } = completion
  for (const choice of choices) yield { ...rest, choices: [choice] }
  if (usage !== undefined) yield { ...rest, choices: [], usage }
}
