/** Items of the model, in requests and in answers, as blocks. */
import { plainBase64 } from '../../providers/data-url.ts'
import { fieldsOf, itemsOf, textOf } from '../../wire/json.ts'
import type { Block, CallBlock, Fields, MediaBlock, ReasoningBlock } from '../../conversation/conversation.ts'
import { asOwn, joinOwn, others, ownOf } from '../../conversation/own.ts'
import { readClientCall } from './client-tools.ts'
import { readParts } from './content.ts'
import { nameIn } from './names.ts'
import { stateOf } from './state.ts'

const messageFields = new Set(['type', 'role', 'content', 'id', 'status'])
const reasoningFields = new Set(['type', 'summary', 'content', 'encrypted_content', 'id', 'status'])
const functionFields = new Set(['type', 'call_id', 'name', 'arguments', 'id', 'status'])
const customFields = new Set(['type', 'call_id', 'name', 'input', 'id', 'status'])
const imageFields = new Set(['type', 'result', 'output_format', 'id', 'status'])

/**
 * The blocks of an item that a model has made; undefined for any other item. Ids and states of items mean nothing to other
 * vendors. `maker`: who has made state without an envelope.
 */
export function readOutputItem(item: Fields, place: string, maker: string): Block[] | undefined {
  switch (item['type']) {
    case 'message':
    case undefined:
      return item['role'] === 'assistant' ? readMessage(item, place) : undefined
    case 'reasoning':
      return [readReasoning(item, place, maker)]
    case 'function_call':
      return [readCall(item, place, 'function', textOf(item['arguments']), functionFields)]
    case 'custom_tool_call':
      return [readCall(item, place, 'custom', textOf(item['input']), customFields)]
    case 'image_generation_call':
      return typeof item['result'] === 'string' ? [readImage(item, place)] : [ownBlock(item, place)]
    case 'local_shell_call':
    case 'shell_call':
    case 'apply_patch_call':
    case 'computer_call':
      return [readOfClient(item, place)]
    default:
      return textOf(item['type']).endsWith('_call') ? [ownBlock(item, place)] : undefined
  }
}

/** The fields that only this wire has, of an item whose content comes in pieces: as `own` of its first block. */
export function furtherOf(item: Fields): Fields | undefined {
  switch (item['type']) {
    case 'message': {
      const fields = others(item, messageFields)
      return fields && { item: fields }
    }
    case 'reasoning':
      return others(item, reasoningFields)
    case 'function_call':
      return others(item, functionFields)
    case 'custom_tool_call':
      return others(item, customFields)
    default:
      return undefined
  }
}

/** An item that only this wire has. */
export function ownBlock(value: Fields, place: string): Block {
  return { kind: 'own', format: 'responses', value, place }
}

/** The first block has the fields of the message, the others name it as theirs. */
function readMessage(item: Fields, place: string): Block[] {
  const fields = others(item, messageFields)
  return readParts(item['content'], `${place}.content`).map((block, index): Block => {
    const mark = index > 0 ? { part: true } : fields && { item: fields }
    return mark === undefined ? block : { ...block, own: joinOwn(block.own, { responses: mark }) }
  })
}

function readReasoning(item: Fields, place: string, maker: string): ReasoningBlock {
  const { summary, content, encrypted_content: encrypted } = item
  const [said, whole] = [textsIn(summary), textsIn(content)]
  const parts = said.length > 0 ? said : whole
  // One part is written as it was read.
  const kept = parts.length > 1 || (said.length > 0 && whole.length > 0) ? { summary, content } : undefined
  return {
    kind: 'reasoning',
    text: parts.join('\n\n'),
    place,
    form: said.length > 0 ? 'summary' : undefined,
    state: stateOf(encrypted, maker),
    own: joinOwn(asOwn('responses', kept), ownOf('responses', item, reasoningFields)),
  }
}

export function textsIn(parts: unknown): string[] {
  return itemsOf(parts).flatMap((part) => textOf(fieldsOf(part)['text']) || [])
}

function readCall(
  item: Fields,
  place: string,
  by: CallBlock['by'],
  input: string,
  known: ReadonlySet<string>,
): CallBlock {
  const { call_id: id, name, namespace } = item
  const called = nameIn(namespace, textOf(name))
  const whole = by === 'function' && input === '' ? '{}' : input
  return { kind: 'call', id: textOf(id), name: called, by, input: whole, place, own: ownOf('responses', item, known) }
}

function readOfClient(item: Fields, place: string): CallBlock {
  const { name = '', input = '{}' } = readClientCall(item) ?? {}
  const { id, ...said } = item
  const own = { responses: { raw: said } }
  return { kind: 'call', id: textOf(item['call_id'] ?? id), name, by: 'function', input, place, own }
}

function readImage(item: Fields, place: string): MediaBlock {
  const mediaType = `image/${textOf(item['output_format']) || 'png'}`
  const source = { mediaType, base64: plainBase64(textOf(item['result'])) }
  return { kind: 'media', type: 'image', source, place, own: ownOf('responses', item, imageFields) }
}
