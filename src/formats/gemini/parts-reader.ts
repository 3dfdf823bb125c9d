/** Reads the parts of a client's contents. */
import type { Block, ReasoningBlock, ResultBlock } from '../../conversation/conversation.ts'
import { others, ownOf } from '../../conversation/own.ts'
import { fieldsOf, isRecord, stringOf, textOf, type Fields } from '../../wire/json.ts'
import { stringIn } from '../../providers/reading/parts.ts'
import { camelFields, itemsAt, recordAt } from './fields.ts'
import { readMedia } from './media.ts'
import { google, ownParts, readSignature } from './state.ts'

/** The ids of calls. Clients may leave them out: then a result belongs to the first open call of its function. */
export class CallIds {
  #open: { readonly id: string; readonly name: string }[] = []
  #calls = 0

  call(name: string, given: unknown): string {
    this.#calls++
    const id = textOf(given) || `call_${this.#calls}`
    this.#open.push({ id, name })
    return id
  }

  result(name: unknown, given: unknown): string {
    const at = this.#open.findIndex((call) => (given ? call.id === given : call.name === name))
    const [found] = at < 0 ? [] : this.#open.splice(at, 1)
    return found?.id ?? (textOf(given) || String(name))
  }
}

const marks = ['thought', 'thoughtSignature']
export const knownText: ReadonlySet<string> = new Set([...marks, 'text'])
export const knownCall: ReadonlySet<string> = new Set([...marks, 'functionCall'])
const knownResult = new Set([...marks, 'functionResponse'])
export const knownMedia: ReadonlySet<string> = new Set([...marks, 'inlineData', 'fileData'])

/** Reads `parts` to blocks, of which a part may be several, or none. `blocks`: those before them. */
export function readParts(parts: unknown, place: string, ids: CallIds, blocks: Block[] = []): Block[] {
  for (const [index, raw] of itemsAt(parts, place).entries())
    readPart(recordAt(raw, `${place}[${index}]`), `${place}[${index}]`, ids, blocks)
  return blocks
}

function readPart(part: Fields, place: string, ids: CallIds, into: Block[]): void {
  const { text, thought, thoughtSignature: signature, functionCall, functionResponse } = part
  if (functionCall !== undefined) return readCall(part, place, ids, into)
  if (functionResponse !== undefined) return void into.push(readResult(part, place, ids))
  if (typeof text === 'string') {
    const { before, state } = readSignature(signature)
    addReasoning(before, into)
    if (text === '' && state === undefined && before.length > 0) return
    const own = ownOf('gemini', part, knownText)
    into.push({ kind: thought === true ? 'reasoning' : 'text', text, place, state, own })
    return
  }
  const data = isRecord(part['inlineData']) ? camelFields(part['inlineData']) : undefined
  const file = isRecord(part['fileData']) ? camelFields(part['fileData']) : undefined
  const media = readMedia(data, file)
  if (media === undefined) {
    into.push({ kind: 'reasoning', text: '', form: 'sealed', state: ownParts(google, [part]), place })
    return
  }
  const { before, state } = readSignature(signature)
  addReasoning(before, into)
  const name = stringOf((data ?? file)?.['displayName'])
  into.push({ kind: 'media', ...media, place, name, state, own: ownOf('gemini', part, knownMedia) })
}

function readCall(part: Fields, place: string, ids: CallIds, into: Block[]): void {
  const where = `${place}.functionCall`
  const { id: given, args, ...called } = recordAt(part['functionCall'], where)
  const name = stringIn(called, 'name', where)
  const id = ids.call(name, given)
  const { before, state } = readSignature(part['thoughtSignature'], id)
  addReasoning(before, into)
  const own = ownOf('gemini', part, knownCall)
  into.push({ kind: 'call', id, name, by: 'function', input: JSON.stringify(fieldsOf(args)), place, state, own })
}

const resultFields = new Set(['id', 'name', 'response', 'parts'])

function readResult(part: Fields, place: string, ids: CallIds): ResultBlock {
  const where = `${place}.functionResponse`
  const result = recordAt(part['functionResponse'], where)
  const { id, name, response, parts } = result
  const { text, failed } = readResponse(fieldsOf(response))
  const media = Array.isArray(parts) ? readParts(parts, `${where}.parts`, ids) : []
  const more = others(result, resultFields)
  return {
    kind: 'result',
    callId: ids.result(name, id),
    blocks: text === '' && media.length > 0 ? media : [{ kind: 'text', text }, ...media],
    place,
    failed: failed || undefined,
    own: more === undefined ? ownOf('gemini', part, knownResult) : { gemini: { functionResponse: more } },
  }
}

/** Google's convention: the text of a result is in `output`, that of a failure in `error`. */
function readResponse(response: Fields): { readonly text: string; readonly failed: boolean } {
  const [name, ...more] = Object.keys(response)
  const value = name === undefined ? '' : response[name]
  const alone = more.length === 0 && typeof value === 'string'
  if (alone && name === 'error') return { text: value, failed: true }
  // An object would be taken for the response itself.
  if (alone && (name === 'output' || name === undefined) && !/^\s*\{/.test(value)) return { text: value, failed: false }
  return { text: JSON.stringify(response), failed: false }
}

/** Reasoning that a part carries, in place of the thoughts before it, which clients may have kept too. */
function addReasoning(before: readonly ReasoningBlock[], into: Block[]): void {
  if (before.length === 0) return
  while (into.at(-1)?.kind === 'reasoning' && into.at(-1)?.state === undefined) into.pop()
  into.push(...before)
}
