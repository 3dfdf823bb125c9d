/** The items of a request as turns. */
import { invalid } from '../../errors.ts'
import { isRecord, textOf } from '../../wire/json.ts'
import type { Block, Fields, Own, ResultBlock, Turn } from '../../conversation/conversation.ts'
import { joinOwn, ownOf } from '../../conversation/own.ts'
import { StateReader } from '../model-state.ts'
import { readClientOutput } from './client-tools.ts'
import { compactedByOther, summaryText } from './compaction.ts'
import { readParts } from './content.ts'
import { ownBlock, readOutputItem } from './items.ts'
import { unknownMaker, unpacked } from './state.ts'

interface OpenTurn {
  readonly role: Turn['role']
  readonly blocks: Block[]
  readonly place: string
  readonly own?: Own | undefined
}

const messageFields = new Set(['type', 'role', 'content', 'id', 'status'])
const outputFields = new Set(['type', 'call_id', 'output', 'id', 'status'])

/**
 * What the model has made in a row is one turn; a text after a text is one of its own. The outputs of calls in a row are one
 * turn of the user. Throws 400 for a call without an output and the reverse, as OpenAI does.
 */
export class TurnReader {
  readonly #turns: OpenTurn[] = []
  readonly #states = new StateReader()
  readonly #unanswered = new Set<string>()
  /** Whether the model's last message may go on: there was a call or reasoning since its text. */
  #goesOn = true

  add(item: unknown, place: string): void {
    if (!isRecord(item)) throw invalid(`"${place}" must be an object.`, place)
    const made = readOutputItem(item, place, unknownMaker)
    if (made !== undefined) return this.#answer(item, made, place)
    const { type, role } = item
    if (type === 'message' || (type === undefined && role !== undefined)) return this.#message(item, place)
    if (textOf(type).endsWith('_output')) return this.#output(item, place)
    if (textOf(type).includes('compaction')) return this.#compaction(item, place)
    this.#further(ownBlock(item, place), place)
  }

  /** Instructions before all items. */
  instruct(text: string): void {
    this.#turns.push({ role: 'system', blocks: [{ kind: 'text', text, place: 'instructions' }], place: 'instructions' })
  }

  end(): Turn[] {
    this.#requireOutputs()
    return this.#turns
  }

  #answer(item: Fields, made: readonly Block[], place: string): void {
    const last = this.#turns.at(-1)
    if (last?.role !== 'assistant') {
      this.#requireOutputs()
      this.#goesOn = true
    }
    const isText = item['type'] === undefined || item['type'] === 'message'
    if (last?.role !== 'assistant' || (isText && !this.#goesOn))
      this.#turns.push({ role: 'assistant', blocks: [], place })
    const { blocks } = this.#turns.at(-1) as OpenTurn
    for (const block of made) {
      if (block.kind === 'call') this.#unanswered.add(block.id)
      const older =
        block.kind === 'reasoning' && block.state !== undefined && unpacked(block.state, this.#states, place)
      if (older) blocks.push(...older)
      else blocks.push(block)
    }
    this.#goesOn = !isText
  }

  #message(item: Fields, place: string): void {
    const { role } = item
    this.#requireOutputs()
    const blocks = readParts(item['content'], `${place}.content`)
    const mark = role === 'developer' ? { responses: { role } } : undefined
    const own = joinOwn(ownOf('responses', item, messageFields), mark)
    this.#turns.push({ role: role === 'user' ? 'user' : 'system', blocks, place, own })
  }

  #output(item: Fields, place: string): void {
    const { call_id: callId, id } = item
    const call = textOf(callId ?? id)
    const last = this.#turns.at(-1)
    const isOpen = last?.role === 'user' && last.blocks[0]?.kind === 'result'
    if (!this.#unanswered.delete(call)) {
      // The tools of vendors have outputs too.
      if (!isOfFunction(item)) return this.#further(ownBlock(item, place), place)
      throw invalid(
        `No tool call found for function call output with call_id ${call.slice(0, 128)}.`,
        `${place}.call_id`,
      )
    }
    const block = readOutput(item, call, place)
    if (isOpen) last.blocks.push(block)
    else this.#turns.push({ role: 'user', blocks: [block], place })
  }

  /** A summary that every model can read is a message of the user. Without it, the model would miss the conversation. */
  #compaction(item: Fields, place: string): void {
    const text = summaryText(item['encrypted_content'])
    if (text === undefined) {
      if (item['type'] === 'compaction_trigger') return this.#further(ownBlock(item, place), place)
      throw compactedByOther(place)
    }
    this.#requireOutputs()
    const block: Block = { kind: 'own', format: 'responses', value: item, place, instead: [{ kind: 'text', text }] }
    this.#turns.push({ role: 'user', blocks: [block], place })
  }

  /** It changes nothing in the order of the others. */
  #further(block: Block, place: string): void {
    const last = this.#turns.at(-1)
    if (last === undefined) this.#turns.push({ role: 'user', blocks: [block], place })
    else last.blocks.push(block)
  }

  #requireOutputs(): void {
    const [open] = this.#unanswered
    if (open !== undefined) throw invalid(`No tool output found for function call ${open.slice(0, 128)}.`, 'input')
  }
}

function isOfFunction({ type }: Fields): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

function readOutput(item: Fields, callId: string, place: string): ResultBlock {
  const ofClient = readClientOutput(item, place)
  if (ofClient !== undefined) {
    const { id: _, ...raw } = item
    const { blocks, failed } = ofClient
    return { kind: 'result', callId, blocks, failed: failed || undefined, place, own: { responses: { raw } } }
  }
  const mark = item['type'] === 'custom_tool_call_output' ? { responses: { by: 'custom' } } : undefined
  const own = joinOwn(ownOf('responses', item, outputFields), mark)
  return { kind: 'result', callId, blocks: readParts(item['output'], `${place}.output`), place, own }
}
