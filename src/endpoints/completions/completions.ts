/** `POST /v1/completions`, the legacy endpoint. */
import { choicesIn } from '../../admission/choices.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { CompletionRequest, TextChunk, TextCompletion } from '../../wire/completions.ts'
import {
  discardAnswer,
  framesOf,
  idling,
  openAnswer,
  wholeReply,
  type AnswerForm,
  type AnswerVisit,
  type OpenAnswer,
} from '../chunk-answer.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { completeByChat } from './by-chat.ts'
import { collectText, explodeText, textCompletionOf } from './completion.ts'
import { readCompletion } from './request.ts'
import { TextStreamState, type FullTextChunk } from './stream-state.ts'

type OpenCompletion = OpenAnswer<TextChunk, FullTextChunk, TextCompletion>

const form: AnswerForm<TextChunk, FullTextChunk, TextCompletion> = {
  idPrefix: 'cmpl-',
  state: (head, renamed) => new TextStreamState(head, renamed),
  tellsSomething: ({ choices }) => (choices ?? []).some(({ text, finish_reason: reason }) => Boolean(text || reason)),
  collect: collectText,
  normalise: textCompletionOf,
  explode: explodeText,
}

export const completions: CallEndpoint<CompletionRequest, OpenCompletion> = {
  name: 'completions',
  makes: 'text',
  lengthFields: ['max_tokens'],
  choices: ({ field }) => choicesIn(field) * promptsIn(field('prompt')),
  read: readCompletion,
  ask,
  discard: discardAnswer,
  whole: wholeReply,
  frames: framesOf,
  ...idling(form),
}

async function ask(provider: Provider, call: Call<CompletionRequest>, visit: AnswerVisit): Promise<OpenCompletion> {
  const answer = (await provider.complete?.(call)) ?? (await completeByChat(provider, call, visit))
  return openAnswer(form, answer, call, visit)
}

/** A text, a list of texts, a list of tokens, or a list of those: each text and each list of tokens is answered by itself. */
function promptsIn(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1
}
