/** `POST /v1/completions`, the legacy endpoint. */
import type { Call, Provider } from '../../providers/contract.ts'
import type { CompletionRequest, TextChunk, TextCompletion } from '../../wire/completions.ts'
import {
  discardAnswer,
  framesOf,
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

export const completions: CallEndpoint<CompletionRequest, OpenCompletion> = {
  name: 'completions',
  read: readCompletion,
  ask,
  discard: discardAnswer,
  whole: wholeReply,
  frames: framesOf,
}

const form: AnswerForm<TextChunk, FullTextChunk, TextCompletion> = {
  idPrefix: 'cmpl-',
  state: (head, renamed) => new TextStreamState(head, renamed),
  tellsSomething: ({ choices = [] }) => choices.some(({ text, finish_reason: reason }) => Boolean(text || reason)),
  collect: collectText,
  normalise: textCompletionOf,
  explode: explodeText,
}

async function ask(provider: Provider, call: Call<CompletionRequest>, visit: AnswerVisit): Promise<OpenCompletion> {
  const answer = (await provider.complete?.(call)) ?? (await completeByChat(provider, call, visit))
  return openAnswer(form, answer, call, visit)
}
