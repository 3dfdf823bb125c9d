/** Turns as the items of a request. */
import { createHash } from 'node:crypto'
import { arranged } from '../../conversation/arrange.ts'
import type {
  Block,
  CallBlock,
  Fields,
  OwnBlock,
  ReasoningBlock,
  ResultBlock,
  TextBlock,
  Turn,
} from '../../conversation/conversation.ts'
import type { Target } from '../format.ts'
import { insteadOf } from '../instead.ts'
import { shortName } from '../tools.ts'
import { writeInputParts, writeOutputText } from './content.ts'
import { innerName } from './names.ts'
import type { StateText } from '../envelope.ts'
import { forVendor, unknownMaker } from './state.ts'
import type { ResponsesTraits } from './traits.ts'

/** What the API takes: `instructions` before all else, and items. */
export interface WrittenTurns {
  readonly instructions: string | undefined
  readonly input: readonly Fields[]
}

/** Writes turns for one vendor, which gets back only its own encrypted reasoning. */
export class ItemWriter {
  readonly #to: Target<ResponsesTraits>
  readonly #states: StateText
  readonly #items: Fields[] = []
  #custom: ReadonlySet<string> = new Set()

  constructor(to: Target<ResponsesTraits>) {
    this.#to = to
    this.#states = forVendor(to.maker)
  }

  write(turns: readonly Turn[]): WrittenTurns {
    const first = turns.findIndex(({ role }) => role !== 'system')
    const leading = turns.slice(0, first < 0 ? turns.length : first)
    const instructions = leading.map(textOf).join('\n\n')
    if (first < 0) {
      const content = [{ type: 'input_text', text: instructions }]
      return { instructions: undefined, input: [{ type: 'message', role: 'user', content }] }
    }
    const rest = turns.slice(first)
    this.#custom = new Set(rest.flatMap(({ blocks }) => blocks.flatMap((each) => (isCustom(each) ? [each.id] : []))))
    for (const turn of arranged(rest)) this.#turn(turn)
    return { instructions: instructions === '' ? undefined : instructions, input: this.#items }
  }

  #turn(turn: Turn): void {
    if (turn.role === 'assistant') return this.#answer(turn.blocks)
    const said: Block[] = []
    for (const block of turn.blocks) {
      if (block.kind === 'result') this.#items.push(this.#result(block))
      else if (block.kind === 'own' && block.format === 'responses') this.#items.push(block.value)
      else said.push(block)
    }
    if (turn.role === 'system') {
      if (said.length > 0) this.#message('developer', [{ type: 'input_text', text: textOf(turn) }], turn)
    } else if (said.length > 0 || turn.blocks.length === 0) {
      this.#message('user', writeInputParts(said, this.#to.omit), turn)
    }
  }

  #message(role: string, content: readonly Fields[], { own }: Turn): void {
    this.#items.push({ type: 'message', role, content, ...own?.responses })
  }

  /** Reasoning must be followed by what it led to. */
  #answer(blocks: readonly Block[]): void {
    const end = blocks.findLastIndex(({ kind }) => kind !== 'reasoning') + 1
    let open: Fields[] | undefined
    for (const block of blocks.slice(0, end)) {
      if (block.kind === 'text' || block.kind === 'refusal') {
        if (block.kind === 'text' && block.text.trim() === '') continue
        const { item, part, ...more } = block.own?.responses ?? {}
        const written =
          block.kind === 'text' ? writeOutputText(block) : { type: 'refusal', refusal: block.text, ...more }
        if (part === true && open !== undefined) open.push(written)
        else {
          open = [written]
          this.#items.push({ type: 'message', role: 'assistant', content: open, ...(item as Fields | undefined) })
        }
        continue
      }
      open = undefined
      this.#made(block)
    }
  }

  #made(block: Block): void {
    switch (block.kind) {
      case 'reasoning':
        return this.#reasoning(block)
      case 'call':
        return void this.#items.push(writeCall(block))
      case 'own':
        return this.#own(block)
      case 'media': {
        const { source, own, place = 'input' } = block
        if (block.type !== 'image' || !('base64' in source)) return this.#to.omit(place, `${block.type} of the model`)
        const item = { type: 'image_generation_call', status: 'completed', result: source.base64 }
        this.#items.push({ ...item, ...own?.responses })
      }
    }
  }

  #reasoning({ text, form, state, place = 'input', own }: ReasoningBlock): void {
    const encrypted = state === undefined ? undefined : this.#states(state)
    // The vendor rejects reasoning that it cannot read.
    if (encrypted === undefined && this.#to.maker !== unknownMaker) {
      if (text !== '' || state !== undefined) this.#to.omit(place, 'reasoning of another vendor')
      return
    }
    this.#items.push({
      ...reasoningItem(text, form !== undefined || encrypted !== undefined, encrypted),
      ...own?.responses,
    })
  }

  #own(block: OwnBlock): void {
    if (block.format === 'responses') this.#items.push(block.value)
    else this.#answer(insteadOf(block, 'responses', this.#to))
  }

  #result({ callId, blocks, failed, own }: ResultBlock): Fields {
    const { raw, by, ...more } = own?.responses ?? {}
    if (raw !== undefined) return raw as Fields
    const type = by === 'custom' || this.#custom.has(callId) ? 'custom_tool_call_output' : 'function_call_output'
    const all: readonly Block[] = failed === true ? [{ kind: 'text', text: 'Error:' }, ...blocks] : blocks
    const output = all.every(isPlainText) ? all.map(({ text }) => text).join('\n') : writeInputParts(all, this.#to.omit)
    return { type, call_id: shortId(callId), output, ...more }
  }
}

/** `asSummary`: otherwise the text is the reasoning itself. */
export function reasoningItem(text: string, asSummary: boolean, encrypted: string | undefined): Fields {
  const item: Record<string, unknown> = { type: 'reasoning', summary: [] }
  if (text !== '') {
    if (asSummary) item['summary'] = [{ type: 'summary_text', text }]
    else item['content'] = [{ type: 'reasoning_text', text }]
  }
  if (encrypted !== undefined) item['encrypted_content'] = encrypted
  return item
}

function writeCall({ id, name, by, input, own }: CallBlock): Fields {
  const { raw, namespace, call: _, ...more } = own?.responses ?? {}
  if (raw !== undefined) return raw as Fields
  const called = { call_id: shortId(id), name: shortName(innerName(namespace, name)), namespace, ...more }
  return by === 'custom'
    ? { type: 'custom_tool_call', ...called, input }
    : { type: 'function_call', ...called, arguments: input }
}

const longestId = 64

function shortId(id: string): string {
  if (id.length <= longestId) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

function isCustom(block: Block): block is CallBlock {
  return block.kind === 'call' && block.by === 'custom'
}

function isPlainText(block: Block): block is TextBlock {
  return block.kind === 'text' && block.own?.responses === undefined
}

function textOf({ blocks }: Turn): string {
  return blocks.flatMap((each) => (each.kind === 'text' ? [each.text] : [])).join('\n\n')
}
