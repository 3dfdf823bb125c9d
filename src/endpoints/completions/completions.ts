/** Legacy text completions. Unknown fields are allowed. Source of the fields: OpenAI's CreateCompletionRequest. */
import * as z from 'zod'
import { choicesIn } from '../../admission/output-length.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import { Verbatim, type Call, type CompletionAnswer, type Provider } from '../../providers/contract.ts'
import { type CompletionRequest, type TextChunk, type TextCompletion, promptsIn } from '../../wire/completions.ts'
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
import { TextStreamState, type FullTextChunk } from './stream-state.ts'
import { invalid } from '../../errors.ts'
import type { JsonBody } from '../../http/json-body.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'
import { lazy } from '../../records/lazy.ts'

type OpenCompletion = OpenAnswer<TextChunk, FullTextChunk, TextCompletion>

const form: AnswerForm<TextChunk, FullTextChunk, TextCompletion> = {
  idPrefix: 'cmpl-',
  state: (head, renamed) => new TextStreamState(head, renamed),
  hasContent: ({ choices }) => (choices ?? []).some(({ text, finish_reason: reason }) => Boolean(text || reason)),
  normalise: textCompletionOf,
}

const tokens = lazy(() => z.array(z.int()).min(1))

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    prompt: z
      .union(
        [z.string(), z.array(z.string()).min(1), tokens(), z.array(tokens()).min(1)],
        'must be a string, an array of strings, an array of tokens, or an array of arrays of tokens',
      )
      .nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
    max_tokens: z.int().min(0).nullish(),
    n: z.int().min(1).max(128).nullish(),
    best_of: z.int().min(0).max(20).nullish(),
    echo: z.boolean().nullish(),
    suffix: z.string().nullish(),
    logprobs: z.int().min(0).max(5).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    logit_bias: z.record(z.string(), z.number()).nullish(),
    seed: z.int().nullish(),
    user: z.string().nullish(),
  }),
)

/** Reads and validates a text completion request. A long list of prompts is validated by its reader. */
const readCompletion: ReadOrder<CompletionRequest> = jsonReader(schema, {
  unread: ['prompt'],
  more: checkTogether,
})

/** Rules between fields. */
function checkTogether(body: JsonBody): void {
  const stream = body.get('stream') === true
  if (body.get('stream_options') && !stream) {
    throw invalid('"stream_options" is only allowed when "stream" is true.', 'stream_options')
  }
  const n = (body.get('n') as number | null | undefined) ?? 1
  const bestOf = body.get('best_of') as number | null | undefined
  if (typeof bestOf !== 'number') return
  if (bestOf < n) throw invalid('"best_of" must not be less than "n".', 'best_of')
  if (stream && bestOf > n) throw invalid('"best_of" above "n" cannot be streamed.', 'best_of')
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
