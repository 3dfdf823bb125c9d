/**
 * Validation of text completion requests. Unknown fields are allowed. Source of the fields: OpenAI's
 * CreateCompletionRequest.
 */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { JsonBody } from '../../http/json-body.ts'
import type { CompletionRequest } from '../../wire/completions.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'

const tokens = z.array(z.int()).min(1)

const schema = z.looseObject({
  model: z.string().min(1),
  prompt: z
    .union(
      [z.string(), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)],
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
})

/** Reads and validates a text completion request. A long list of prompts is validated by its reader. */
export const readCompletion: ReadOrder<CompletionRequest> = jsonReader(schema, {
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
