/** Conversion of a conversation to the input of a response. */
import { createHash } from 'node:crypto'
import type { InputItem, ResponsePart } from '../../../wire/responses.ts'
import { unseal } from '../../envelope.ts'
import { StateReader } from '../../model-state.ts'
import { chatNameOf } from '../../tool-names.ts'
import type { MessagePart } from '../reading/parts.ts'
import type { AssistantBlock, AssistantTurn, ResultTurn, SystemTurn, Turn } from '../reading/turns.ts'

/** The input of a response. */
export interface ResponseInput {
  /** What stands before all other turns. */
  readonly instructions: string | undefined
  readonly input: readonly InputItem[]
}

/** The input for the vendor `maker`, which gets back only its own encrypted reasoning. */
export function inputOf(turns: readonly Turn[], maker: string): ResponseInput {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const leading = turns.slice(0, first < 0 ? turns.length : first) as SystemTurn[]
  const instructions = leading.map(systemText).join('\n\n')
  if (first < 0)
    return { instructions: undefined, input: [message('user', [{ type: 'input_text', text: instructions }])] }
  const input: InputItem[] = []
  const states = new StateReader()
  for (let index = first; index < turns.length; index++) addTurn(input, turns[index] as Turn, maker, states)
  return { instructions: instructions === '' ? undefined : instructions, input }
}

function addTurn(input: InputItem[], turn: Turn, maker: string, states: StateReader): void {
  switch (turn.role) {
    case 'system':
      input.push(message('developer', [{ type: 'input_text', text: systemText(turn) }]))
      return
    case 'user':
      input.push(message('user', turn.parts.map(inputPart)))
      return
    case 'result':
      input.push(outputItem(turn))
      return
    default:
      addAnswer(input, turn, maker, states)
  }
}

function addAnswer(input: InputItem[], { blocks }: AssistantTurn, maker: string, states: StateReader): void {
  // Reasoning must be followed by what it led to.
  const end = blocks.findLastIndex(({ kind }) => kind === 'text' || kind === 'call') + 1
  for (const block of blocks.slice(0, end)) {
    if (block.kind === 'text') {
      if (block.text.trim() !== '') input.push(message('assistant', [{ type: 'output_text', text: block.text }]))
    } else if (block.kind === 'call') {
      const { id, name, input: value } = block
      const called = { name: chatNameOf(name, undefined), arguments: JSON.stringify(value) }
      input.push({ type: 'function_call', call_id: callId(id), ...called })
    } else {
      const item = reasoningItem(block, maker, states)
      if (item !== undefined) input.push(item)
    }
  }
}

function reasoningItem(
  block: Extract<AssistantBlock, { kind: 'thinking' | 'redacted' }>,
  maker: string,
  states: StateReader,
): InputItem | undefined {
  if (block.kind === 'redacted') return undefined
  const encrypted = unseal(block.signature, maker)
  if (encrypted === undefined || encrypted === '' || isChatState(block.signature, maker, states)) return undefined
  const summary = block.text === '' ? [] : [{ type: 'summary_text', text: block.text }]
  return { type: 'reasoning', summary, encrypted_content: encrypted }
}

/** Whether a state was made by a chat of the same maker. */
function isChatState(signature: string, maker: string, states: StateReader): boolean {
  // A JSON object in base64.
  if (unseal(signature, maker)?.startsWith('eyJ') !== true) return false
  const { message: fields = {}, calls = {} } = states.read(signature, maker) ?? {}
  return Object.keys(fields).length > 0 || Object.keys(calls).length > 0
}

function outputItem({ callId: id, parts, failed }: ResultTurn): InputItem {
  const head: MessagePart[] = failed ? [{ kind: 'text', text: 'Error:' }] : []
  const all = [...head, ...parts]
  const plain = all.every((part) => part.kind === 'text')
  const output = plain ? all.map(({ text }) => text).join('\n') : all.map(inputPart)
  return { type: 'function_call_output', call_id: callId(id), output }
}

function message(role: string, content: readonly ResponsePart[]): InputItem {
  return { type: 'message', role, content }
}

function inputPart(part: MessagePart): ResponsePart {
  if (part.kind === 'text') return { type: 'input_text', text: part.text }
  if (part.kind === 'image') return { type: 'input_image', image_url: part.url, detail: 'auto' }
  if (!part.url.startsWith('data:')) return { type: 'input_file', file_url: part.url }
  return { type: 'input_file', filename: part.filename, file_data: part.url }
}

const longestId = 64

function callId(id: string): string {
  if (id.length <= longestId) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

function systemText({ parts }: SystemTurn): string {
  return parts.map(({ text }) => text).join('\n\n')
}
