import { choicesIn } from '../../admission/output-length.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import { Verbatim, type Call, type CompletionAnswer, type Provider } from '../../providers/contract.ts'
import type { CompletionRequest, TextChunk, TextCompletion } from '../../wire/completions.ts'
import {
  framesOf,
  headFor,
  keepAliveFrames,
  openAnswer,
  wholeReply,
  type AnswerForm,
  type AnswerContext,
  type OpenAnswer,
} from '../chunk-answer.ts'
import { untilAborted } from '../chunk-stream.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { discard } from '../open.ts'
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
  normalise: textCompletionOf,
}

/** `POST /v1/completions`, OpenAI's legacy endpoint. */
export const completions: CallEndpoint<CompletionRequest, OpenCompletion> = defineEndpoint({
  method: 'POST',
  path: '/v1/completions',
  name: 'completions',
  makes: 'text',
  lengthFields: ['max_tokens'],
  choices: ({ field }) => choicesIn(field) * promptsIn(field('prompt')),
  read: readCompletion,
  ask,
  discard,
  whole: wholeReply,
  frames: framesOf,
  ...keepAliveFrames(form),
})

async function ask(provider: Provider, call: Call<CompletionRequest>, context: AnswerContext): Promise<OpenCompletion> {
  const own = context.inspection === undefined ? await provider.complete?.(call) : undefined
  const answer = own ?? (await completeByChat(provider, call, context))
  return openAnswer(form, await inMode(answer, call, context), call, context)
}

/** Some vendors stream to clients that do not, or the other way around. */
function inMode(
  answer: CompletionAnswer,
  call: Call<CompletionRequest>,
  context: AnswerContext,
): CompletionAnswer | Promise<TextCompletion> {
  if (!(Symbol.asyncIterator in answer))
    return call.stream ? chunksOfText(answer instanceof Verbatim ? answer.value : answer) : answer
  if (call.stream) return answer
  const state = new TextStreamState(headFor(form.idPrefix, context), call.publicModel !== call.model)
  return collectText(untilAborted(answer, cancellationOf(call)), state)
}
