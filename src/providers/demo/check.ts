/** The parts of a chat request that the gateway does not look into where they are large, as far as they are read here. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { ChatRequest } from '../../wire/chat.ts'

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.looseObject({ url: z.string() }).optional(),
})

const schema = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.union([z.string(), z.array(part)]).nullish(),
      name: z.string().optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }).optional() }))
        .nullish(),
    }),
  ),
  tools: z
    .array(
      z.looseObject({
        function: z.looseObject({ name: z.string(), parameters: z.looseObject({}).nullish() }).optional(),
        custom: z.looseObject({ name: z.string() }).optional(),
      }),
    )
    .nullish(),
})

/** Throws 400 that names the field at fault. */
export function checkRequest(request: ChatRequest): void {
  const issue = schema.safeParse(request).error?.issues[0]
  if (issue === undefined) return
  const param = issue.path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1)
  throw invalid(`Invalid value for "${param}": ${issue.message}.`, param)
}
