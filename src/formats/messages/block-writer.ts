/** Writes content blocks of the Messages wire, for requests and for answers. */
import type { Block, CallBlock, ReasoningBlock, ResultBlock } from '../../conversation/conversation.ts'
import { inputObject } from '../../conversation/json.ts'
import type { Fields } from '../../wire/json.ts'
import { insteadOf } from '../instead.ts'
import { writeCitations } from './citations.ts'
import { hostedIn } from './hosted-blocks.ts'
import { writeMedia, type MediaReader } from './media.ts'
import type { StateText } from '../envelope.ts'
import { forClient, unsigned } from './states.ts'

/** Whom blocks are written for. */
export interface Reader extends MediaReader {
  readonly states: StateText
  /** The id of a call, where it is made and where its result is. */
  readonly callId: (id: string) => string
  readonly resultId: (id: string) => string
  /** What could not be said. */
  readonly omit: (place: string, why: string) => void
}

type Written = Record<string, unknown>

/** Adds a block to a content. What the reader cannot read is not added, but reported to it. */
export function writeBlock(content: Fields[], block: Block, to: Reader): void {
  switch (block.kind) {
    case 'text': {
      if (block.text.trim() === '') return
      const written: Written = { type: 'text', text: block.text }
      const citations = writeCitations(block.citations, to.states === forClient)
      if (citations.length > 0) written['citations'] = citations
      content.push(marked(written, block))
      return
    }
    case 'refusal':
      if (block.text.trim() !== '') content.push(marked({ type: 'text', text: block.text }, block))
      return
    case 'media':
      content.push(marked(writeMedia(block, to), block))
      return
    case 'reasoning': {
      const written = writeReasoning(block, to)
      if (written !== undefined) content.push(marked(written, block))
      return
    }
    case 'call':
      content.push(marked(writeCall(block, to), block))
      return
    case 'result':
      content.push(marked(writeResult(block, to), block))
      return
    case 'own':
      if (block.format === 'messages') content.push(block.value)
      else for (const each of insteadOf(block, 'messages', to)) writeBlock(content, each, to)
  }
}

/** The block with its mark, and with the fields that only this wire has. */
function marked(written: Written, { cache, own }: Block): Fields {
  if (cache !== undefined) written['cache_control'] = { type: 'ephemeral', ...cache }
  return Object.assign(written, own?.messages)
}

function writeReasoning({ text, form, state, place = 'messages' }: ReasoningBlock, to: Reader): Written | undefined {
  const signature = state === undefined ? undefined : to.states(state)
  const hosted = signature === undefined ? undefined : hostedIn(signature)
  if (hosted !== undefined) return hosted
  if (signature !== undefined && form === 'sealed') return { type: 'redacted_thinking', data: signature }
  if (signature !== undefined || (to.states === forClient && form !== 'sealed'))
    return { type: 'thinking', thinking: text, signature: signature ?? unsigned }
  to.omit(place, 'the reasoning of another model')
  return undefined
}

function writeCall({ id, name, input }: CallBlock, to: Reader): Written {
  return { type: 'tool_use', id: to.callId(id), name, input: inputObject(input) }
}

function writeResult({ callId, blocks, failed }: ResultBlock, to: Reader): Written {
  const content: Fields[] = []
  for (const block of blocks) writeBlock(content, block, to)
  const [only] = content
  const isText = content.length === 1 && only?.['type'] === 'text' && Object.keys(only).length === 2
  const result: Written = {
    type: 'tool_result',
    tool_use_id: to.resultId(callId),
    content: isText ? only['text'] : content,
  }
  if (failed === true) result['is_error'] = true
  return result
}
