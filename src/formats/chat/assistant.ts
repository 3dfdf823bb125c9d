/** Messages of the assistant that clients send back. */
import { listOf, readRecord, stringIn } from '../../providers/reading/parts.ts'
import { isRecord, itemsOf, textOf } from '../../wire/json.ts'
import type { Block, CallBlock, Fields, ReasoningBlock, TextBlock } from '../../conversation/conversation.ts'
import { others, ownOf } from '../../conversation/own.ts'
import { readAnnotation } from './citations.ts'
import { readContent } from './content.ts'
import { inOrder, readDetails } from './details.ts'
import { stateOfExtraContent } from './extra-content.ts'

/** The blocks of a message, and its further fields. */
export interface Read {
  readonly blocks: Block[]
  readonly own: Fields | undefined
}

const known = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'annotations',
  'images',
])

const knownWithExtra = new Set([...known, 'extra_content'])

/** Throws 400 with the place. */
export function readAssistant(raw: Fields, place: string): Read {
  const { refusal, images, reasoning_details: details } = raw
  const texts = readContent(raw['content'], `${place}.content`)
  addCitations(texts, itemsOf(raw['annotations']))
  if (typeof refusal === 'string' && refusal !== '') texts.push({ kind: 'refusal', text: refusal })
  if (Array.isArray(images)) texts.push(...readContent(images, `${place}.images`))
  const calls = listOf(raw['tool_calls'], `${place}.tool_calls`).map((call, index) =>
    readCall(call, `${place}.tool_calls[${index}]`),
  )
  const extra = stateOfExtraContent(raw['extra_content'])
  const own = others(raw, extra === undefined ? known : knownWithExtra)
  const plain = plainReasoning(raw)
  if (extra !== undefined) plain.push({ kind: 'reasoning', text: '', form: 'sealed', state: extra })
  if (!Array.isArray(details)) return { blocks: [...plain, ...texts, ...calls], own }
  const { blocks, rest, order } = readDetails(details)
  const reasoning = blocks.length > 0 ? blocks : plain
  return {
    blocks: inOrder(order, reasoning, texts, calls),
    own: rest.length > 0 ? { ...own, reasoning_details: rest } : own,
  }
}

/** Citations stand beside the content, with the characters that they support. */
function addCitations(blocks: Block[], annotations: readonly unknown[]): void {
  const at = blocks.findIndex(({ kind }) => kind === 'text')
  if (at < 0) return
  const citations = annotations.map(readAnnotation).filter((each) => each !== undefined)
  if (citations.length > 0) blocks[at] = { ...(blocks[at] as TextBlock), citations }
}

function plainReasoning({ reasoning_content: standard, reasoning }: Fields): ReasoningBlock[] {
  if (textOf(standard) !== '') return [{ kind: 'reasoning', text: textOf(standard) }]
  if (textOf(reasoning) === '') return []
  return [{ kind: 'reasoning', text: textOf(reasoning), own: { chat: { as: 'reasoning' } } }]
}

const callFields = new Set(['id', 'type', 'function', 'custom', 'index'])
const callFieldsWithExtra = new Set([...callFields, 'extra_content'])

function readCall(value: unknown, place: string): CallBlock {
  const raw = readRecord(value, place)
  const id = stringIn(raw, 'id', place)
  const state = stateOfExtraContent(raw['extra_content'], id)
  const own = ownOf('chat', raw, state === undefined ? callFields : callFieldsWithExtra)
  if (raw['type'] === 'custom' && isRecord(raw['custom'])) {
    const name = stringIn(raw['custom'], 'name', `${place}.custom`)
    const input = stringIn(raw['custom'], 'input', `${place}.custom`)
    return { kind: 'call', id, name, by: 'custom', input, place, own, state }
  }
  const called = readRecord(raw['function'], `${place}.function`)
  const name = stringIn(called, 'name', `${place}.function`)
  const { arguments: input } = called
  const text = isRecord(input) ? JSON.stringify(input) : textOf(input)
  return { kind: 'call', id, name, by: 'function', input: text.trim() === '' ? '{}' : text, place, own, state }
}
