/** The items of a conversation: validation, and the form in which they are stored. Source: OpenAI's InputItem. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { InputItem, ResponsePart } from '../../wire/responses.ts'
import { verify } from '../check.ts'
import { lazy } from '../../records/lazy.ts'

/** The required fields of each kind. Other kinds are left to the vendor. */
const schemas = lazy(() => {
  const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])
  const id = z.string().min(1)
  return new Map<string, z.ZodObject>(
    Object.entries({
      message: z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content }),
      function_call: z.looseObject({ call_id: id, name: id, arguments: z.string() }),
      function_call_output: z.looseObject({ call_id: id, output: content }),
      custom_tool_call: z.looseObject({ call_id: id, name: id, input: z.string() }),
      custom_tool_call_output: z.looseObject({ call_id: id, output: content }),
      reasoning: z.looseObject({ encrypted_content: z.string().nullish() }),
      item_reference: z.looseObject({ id }),
    }),
  )
})

/** The kind of an item. In OpenAI's format, the type of a message and of a reference may be omitted. */
export function kindOf({ type, role }: InputItem): string {
  return type ?? (role === undefined ? 'item_reference' : 'message')
}

/** Whether an item asks the model to compact what stands before it. It is no part of the conversation. */
export function isTrigger({ type }: InputItem): boolean {
  return type === 'compaction_trigger'
}

/** The input as items. Throws 400 for the first invalid one. `field`: its name in the request. */
export function itemsIn(input: unknown, field = 'input'): readonly InputItem[] {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  if (!Array.isArray(input))
    throw invalid(`Invalid value for "${field}": must be a string or an array of items.`, field)
  for (const [index, item] of (input as unknown[]).entries()) {
    const place = `${field}[${index}]`
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      throw invalid(`Invalid value for "${place}": must be an object.`, place)
    }
    const { type } = item as { type?: unknown }
    if (type !== undefined && typeof type !== 'string') {
      throw invalid(`Invalid value for "${place}.type": must be a string.`, `${place}.type`)
    }
    const schema = schemas().get(kindOf(item as InputItem))
    if (schema !== undefined) verify(schema, item, place)
  }
  return input as InputItem[]
}

/** Items as clients list them: each with type, id and status, and with content in parts. */
export function completed(items: readonly InputItem[], newId: (kind: string) => string): InputItem[] {
  return items.map((item) => {
    const type = kindOf(item)
    const whole = { ...item, type, id: item.id ?? newId(type) }
    if (type === 'reasoning') return whole
    return { status: 'completed', ...whole, ...(type === 'message' && { content: partsOf(item) }) }
  })
}

function partsOf({ role, content: text }: InputItem): readonly ResponsePart[] {
  if (typeof text !== 'string') return text ?? []
  return role === 'assistant' ? [outputText(text)] : [{ type: 'input_text', text }]
}

/** A part with text of the model. */
export function outputText(text: string): ResponsePart {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}
