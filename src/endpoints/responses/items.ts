/** The items of a conversation: what may come in, and how it is kept. Source of the forms: OpenAI's InputItem. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { InputItem, ResponsePart } from '../../wire/responses.ts'
import { verify } from '../check.ts'

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])
const id = z.string().min(1)

/** What is required of each kind. Others are the vendor's own, and pass. */
const schemas = new Map<string, z.ZodObject>(
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

/** The kind of an item. An easy message names none, and a reference need not. */
export function kindOf({ type, role }: InputItem): string {
  return type ?? (role === undefined ? 'item_reference' : 'message')
}

/** The input as items. Throws 400 that names the first part at fault. */
export function itemsIn(input: unknown): readonly InputItem[] {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  if (!Array.isArray(input)) throw invalid('Invalid value for "input": must be a text or a list of items.', 'input')
  for (const [index, item] of (input as unknown[]).entries()) {
    const place = `input[${index}]`
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      throw invalid(`Invalid value for "${place}": must be an object.`, place)
    }
    const { type } = item as { type?: unknown }
    if (type !== undefined && typeof type !== 'string') {
      throw invalid(`Invalid value for "${place}.type": must be a text.`, `${place}.type`)
    }
    const schema = schemas.get(kindOf(item as InputItem))
    if (schema !== undefined) verify(schema, item, place)
  }
  return input as InputItem[]
}

/** Items as they are listed: each with its kind, an id and a status, and content in parts. */
export function completed(items: readonly InputItem[], newId: (kind: string) => string): InputItem[] {
  return items.map((item) => {
    const type = kindOf(item)
    const whole = { ...item, type, id: item.id ?? newId(type) }
    if (type === 'reasoning') return whole
    return { status: 'completed', ...whole, ...(type === 'message' && { content: partsOf(item) }) }
  })
}

function partsOf({ role, content: said }: InputItem): readonly ResponsePart[] {
  if (typeof said !== 'string') return said ?? []
  return role === 'assistant' ? [outputText(said)] : [{ type: 'input_text', text: said }]
}

export function outputText(text: string): ResponsePart {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}
