/**
 * Validation of chat requests. Unknown fields are allowed. Source of the fields: OpenAI's CreateChatCompletionRequest.
 */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { JsonBody } from '../../http/json-body.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { verify } from '../check.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'
import { lazy } from '../../records/lazy.ts'

const part = lazy(() => z.looseObject({ type: z.string() }))

/** Validates the part types of the specification; others are left to the vendor. */
const contentPart = lazy(() =>
  part().superRefine((value, context) => {
    const need = (input: unknown, ...path: string[]) => {
      if (typeof input !== 'string') context.addIssue({ code: 'invalid_type', expected: 'string', input, path })
    }
    if (value.type === 'text') need(value['text'], 'text')
    if (value.type === 'image_url') need((Object(value['image_url']) as { url?: unknown }).url, 'image_url', 'url')
  }),
)

const message = lazy(() =>
  z
    .looseObject({
      role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
      content: z.union([z.string(), z.array(contentPart())], 'must be a string or an array of content parts').nullish(),
      name: z.string().optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z.array(part().extend({ id: z.string() })).nullish(),
    })
    // An assistant's message may consist of tool calls alone.
    .refine(({ role, content }) => role === 'assistant' || (content !== undefined && content !== null), {
      message: 'a string, or an array of parts such as { "type": "text", "text": "…" }',
      params: { missing: true },
      path: ['content'],
    }),
)

const tool = lazy(() =>
  z.looseObject({
    type: z.string(),
    function: z.looseObject({ name: z.string().min(1).max(64) }).optional(),
  }),
)

/** The fields of the specification. */
const chatSchema: () => z.ZodObject = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    messages: z.array(message()).min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    n: z.int().min(1).max(128).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
    seed: z.int().nullish(),
    tools: z.array(tool()).nullish(),
    tool_choice: z.union([z.enum(['none', 'auto', 'required']), part()]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_format: part().nullish(),
    modalities: z.array(z.string()).nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    logit_bias: z.record(z.string(), z.number()).nullish(),
    reasoning_effort: z.string().nullish(),
    metadata: z.record(z.string(), z.string()).nullish(),
    user: z.string().nullish(),
  }),
)

const madeSchema = lazy(() => chatSchema().omit({ messages: true }))

/** Reads and validates a chat request. Messages and tools of a long one are validated by their reader. */
export const readChat: ReadOrder<ChatRequest> = jsonReader(chatSchema, {
  unread: ['messages', 'tools'],
  more: checkTogether,
})

/**
 * Validates a chat request made from that of another endpoint, which does not know the limits of a chat's fields. Skips
 * the messages, which the gateway wrote. Throws 400.
 */
export function checkMadeChat(request: ChatRequest): void {
  verify(madeSchema(), request)
}

/** Rules between fields. */
function checkTogether(body: JsonBody): void {
  if (body.get('stream_options') && body.get('stream') !== true) {
    throw invalid('"stream_options" is only allowed when "stream" is true.', 'stream_options')
  }
  if (body.get('top_logprobs') && body.get('logprobs') !== true) {
    throw invalid('"top_logprobs" is only allowed when "logprobs" is true.', 'top_logprobs')
  }
}
