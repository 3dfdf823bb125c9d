import { choicesIn } from '../../admission/output-length.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { CompletionRequest, TextChunk, TextCompletion } from '../../wire/completions.ts'
import {
  discardAnswer,
  framesOf,
  keepAliveFrames,
  openAnswer,
  wholeReply,
  type AnswerForm,
  type AnswerContext,
  type OpenAnswer,
} from '../chunk-answer.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { completeByChat } from './by-chat.ts'
import { collectText, chunksOfText, textCompletionOf } from './completion.ts'
import { promptsIn } from '../../wire/completions.ts'
import { readCompletion } from './request.ts'
import { TextStreamState, type FullTextChunk } from './stream-state.ts'

type OpenCompletion = OpenAnswer<TextChunk, FullTextChunk, TextCompletion>

const form: AnswerForm<TextChunk, FullTextChunk, TextCompletion> = {
  idPrefix: 'cmpl-',
  state: (head, renamed) => new TextStreamState(head, renamed),
  hasContent: ({ choices }) => (choices ?? []).some(({ text, finish_reason: reason }) => Boolean(text || reason)),
  collect: collectText,
  normalise: textCompletionOf,
  chunksOf: chunksOfText,
}

/** `POST /v1/completions`, OpenAI's legacy endpoint. */
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
  ...keepAliveFrames(form),
}

async function ask(provider: Provider, call: Call<CompletionRequest>, context: AnswerContext): Promise<OpenCompletion> {
  const answer = (await provider.complete?.(call)) ?? (await completeByChat(provider, call, context))
  return openAnswer(form, answer, call, context)
}
