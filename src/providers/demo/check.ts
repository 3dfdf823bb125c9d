/** Validates the parts of a chat request that the demo model reads: the gateway does not validate those of large requests. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { requireOffer } from './budget.ts'

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.looseObject({ url: z.string() }).optional(),
})

const named = z.looseObject({ name: z.string().max(128) })
const called = z.looseObject({ name: z.string().max(128), arguments: z.string().optional() })
const described = named.extend({ parameters: z.looseObject({}).nullish() })
const tool = z.looseObject({ function: described.optional(), custom: named.optional() })
const chosen = z.looseObject({ function: named.optional(), custom: named.optional() })

const schema = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.union([z.string(), z.array(part)]).nullish(),
      name: z.string().optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.looseObject({ id: z.string(), function: called.optional(), custom: named.optional() }))
        .nullish(),
      function_call: called.nullish(),
    }),
  ),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([
      z.string(),
      chosen.extend({
        allowed_tools: z.looseObject({ mode: z.string().optional(), tools: z.array(chosen).optional() }).optional(),
      }),
    ])
    .nullish(),
  functions: z.array(described).nullish(),
  function_call: z.union([z.enum(['none', 'auto']), named]).nullish(),
})

/** Throws a 400 that names the invalid field. */
export function checkRequest(request: ChatRequest): void {
  for (const field of ['tools', 'tool_choice', 'functions', 'response_format']) requireOffer(request[field], field)
  const issue = schema.safeParse(request).error?.issues[0]
  if (issue === undefined) return
  const param = issue.path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1)
  throw invalid(`Invalid value for "${param}": ${issue.message}.`, param)
}
