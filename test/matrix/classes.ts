/** Sorts cells by what became of their feature on the way to the vendor and back. */
import { framesOf, wholeOf, type Cell, type Traffic } from './cells.ts'
import { vendors } from './vendors.ts'
import type { Answer, Block, ClientName, Json, Part } from './feature.ts'
import { endOf, joined, usageOf } from './wires/wire.ts'

/**
 * `right`; `refused`: a 4xx that names the field; `told`: left out, as a header or the guides say; `lost`: left out
 * silently; `wrong`: anything else.
 */
export type Class = 'right' | 'refused' | 'told' | 'lost' | 'wrong'

interface Seen {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: string }[]
  readonly end: string
  readonly usage: Readonly<Record<'input' | 'output' | 'cached' | 'reasoning', number>> | undefined
}

/** The class of a cell, and why it is not right. */
export function classOf(cell: Cell, traffic: Traffic): readonly [Class, reason: string] {
  const { feature, stream } = cell
  const { status, text, headers } = traffic.answer
  const { answer = { blocks: [{ text: 'Hello' }] } } = feature
  const failed = status >= 400 || (stream && /"error":\{|"type":"error"/.test(text))
  if (answer.error !== undefined || answer.cut !== undefined) {
    const ended = /\[DONE\]|message_stop|response\.completed|finishReason/.test(text) && cell.client !== 'responses'
    return failed && !ended ? ['right', ''] : ['wrong', 'the error is not shown']
  }
  const hasBroken = answer.blocks.some(({ call }) => call && !isJson(call.input))
  if (failed && status === 200 && hasBroken) return ['right', '']
  if (failed) return refusal(status, text)
  const missing = wanted(cell).filter((each) => !found(traffic.vendor, each))
  // The gateway enforces what a vendor does not take.
  const enforced = feature.name.startsWith('stop') && !missing.some((each) => text.includes(`${String(each)} two`))
  const unneeded = isDefault(cell)
  if (missing.length > 0 && !enforced && !unneeded) {
    const told = feature.mayDrop === true || headers.has('x-modelhatch-omitted')
    return [told ? 'told' : 'lost', `not at the vendor: ${missing.join(', ')}`]
  }
  if (feature.next !== undefined) return ['right', '']
  try {
    return answered(cell, answer, seenBy[cell.client](wholeOf(cell, traffic.answer)), traffic)
  } catch (error) {
    // As the model wrote it.
    if (hasBroken) return ['right', '']
    return ['wrong', `unreadable: ${String(error)}`]
  }
}

/** Whether a vendor that is not told does what the client asks for. */
function isDefault({ feature, vendor }: Cell): boolean {
  if (/^(?:effort-none|thinking-off)$/.test(feature.name)) return vendors[vendor]?.reasons === false
  return feature.name === 'thinking-adaptive' && vendor === 'ai-sdk'
}

function refusal(status: number, text: string): readonly [Class, string] {
  const named = status < 500 && (/"param":"/.test(text) || /\\"[\w.[\]]+\\"|`|[a-z]+\.[\w.]+:|\w+_\w+:/.test(text))
  return [named ? 'refused' : 'wrong', `${status} ${text.slice(0, 150)}`]
}

/** What must be in the vendor's requests. */
function wanted({ feature, client }: Cell): (string | RegExp)[] {
  const { turns = [], tools = [], schema, choice, fields, sent } = feature
  const allowed = tools.filter(({ name }) => !Array.isArray(choice) || choice.includes(name))
  return [
    ...turns.flatMap(({ parts }) => parts.flatMap(contentOf)),
    ...allowed.map(({ name }) => name),
    ...(schema === undefined ? [] : Object.keys((schema as Json).properties)),
    ...(sent === undefined ? leavesOf(fields?.[client]) : [sent]),
  ]
}

function contentOf({ text, image, file, audio, call, result }: Part): string[] {
  const media = (image ?? file)?.replace(/^data:.*,/, '')
  const called = call && [call.name, ...leavesOf(JSON.parse(call.input))]
  return [text, media, audio, ...(called ?? []), ...(result?.parts.flatMap(contentOf) ?? [])].filter(
    Boolean,
  ) as string[]
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

function found(text: string, each: string | RegExp): boolean {
  return typeof each === 'string' ? text.includes(JSON.stringify(each).slice(1, -1)) : each.test(text)
}

/** How each format says why an answer ended. */
const ends: Readonly<Record<ClientName, Readonly<Record<ReturnType<typeof endOf>, RegExp>>>> = {
  chat: {
    stop: /^stop/,
    tools: /_call/,
    length: /length/,
    filter: /content_filter/,
    refusal: /^stop|content_filter/,
    sequence: /^stop/,
  },
  responses: {
    stop: /completed/,
    tools: /completed/,
    length: /max_output_tokens/,
    filter: /content_filter/,
    refusal: /completed|content_filter/,
    sequence: /completed/,
  },
  messages: {
    stop: /end_turn|stop_sequence/,
    tools: /tool_use/,
    length: /max_tokens/,
    filter: /refusal/,
    refusal: /refusal/,
    sequence: /stop_sequence|end_turn/,
  },
  gemini: {
    stop: /STOP/,
    tools: /STOP/,
    length: /MAX_TOKENS/,
    filter: /SAFETY/,
    refusal: /STOP|SAFETY|PROHIBITED_CONTENT/,
    sequence: /STOP/,
  },
}

const seenBy: Readonly<Record<ClientName, (whole: Json) => Seen>> = {
  chat: ({ choices: [{ message, finish_reason }], usage }) => ({
    text: message.content ?? '',
    calls: (message.tool_calls ?? []).map((each: Json) => ({
      name: each.function.name,
      input: each.function.arguments,
    })),
    end: String(finish_reason),
    usage: usage && {
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }),
  responses: ({ output, status, incomplete_details: details, usage }) => ({
    text: output
      .filter(({ type }: Json) => type === 'message')
      .flatMap(({ content }: Json) => content.map((part: Json) => part.text ?? ''))
      .join(''),
    calls: output
      .filter(({ type }: Json) => type === 'function_call')
      .map((each: Json) => ({ name: each.name, input: each.arguments })),
    end: details?.reason ?? status,
    usage: usage && {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
  }),
  messages: ({ content, stop_reason, usage }) => ({
    text: content.map(({ text = '' }) => text).join(''),
    calls: content
      .filter(({ type }: Json) => type === 'tool_use')
      .map((each: Json) => ({ name: each.name, input: JSON.stringify(each.input) })),
    end: stop_reason,
    usage: usage && {
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
      cached: usage.cache_read_input_tokens ?? 0,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }),
  gemini: ({ candidates: [{ content, finishReason }], usageMetadata: usage }) => ({
    text: content.parts.map(({ text = '', thought }: Json) => (thought ? '' : text)).join(''),
    calls: content.parts
      .filter(({ functionCall }: Json) => functionCall)
      .map(({ functionCall: { name, args } }: Json) => ({ name, input: JSON.stringify(args) })),
    end: finishReason,
    usage: usage && {
      input: usage.promptTokenCount,
      output: usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0),
      cached: usage.cachedContentTokenCount ?? 0,
      reasoning: usage.thoughtsTokenCount ?? 0,
    },
  }),
}

/** Compares what the client got with what the vendor's model said. */
function answered(
  cell: Cell,
  answer: Answer,
  seen: Seen,
  { vendor, answer: { text: raw } }: Traffic,
): readonly [Class, string] {
  const { feature, client, stream } = cell
  const said = joined(answer.blocks, 'text') ?? ''
  const stopped = feature.name.startsWith('stop') && said.startsWith(seen.text) && seen.text !== ''
  if (seen.text !== said && !stopped) {
    // A refusal may be shown as text.
    if (said !== '')
      return [seen.text === '' ? 'lost' : 'wrong', `the text is ${JSON.stringify(seen.text.slice(0, 80))}`]
  }
  const calls = answer.blocks
    .flatMap(({ call }) => call ?? [])
    .slice(0, feature.serial ? seen.calls.length || 1 : undefined)
  if (calls.length > seen.calls.length) return ['lost', `${seen.calls.length} of ${calls.length} calls`]
  if (feature.serial && seen.calls.length > 1 && !vendor.includes('parallel')) return ['lost', 'calls are parallel']
  const differing = calls.findIndex((call, index) => !sameCall(call, seen.calls[index] as Seen['calls'][number]))
  if (differing >= 0 && isJson(calls[differing]?.input ?? ''))
    return ['wrong', `the call is ${JSON.stringify(seen.calls[differing])}`]
  const shown = stream ? framesOf(raw).map(textsIn).join('') : textsIn(raw)
  const lost = answer.blocks.flatMap(markersOf(cell)).find((marker) => !shown.includes(marker))
  if (lost !== undefined) return ['lost', `not at the client: ${lost}`]
  if (!ends[client][endOf(answer)].test(seen.end)) return ['wrong', `ended with ${seen.end}`]
  return counted(answer, seen)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function sameCall(call: NonNullable<Block['call']>, seen: Seen['calls'][number]): boolean {
  const plain = (input: string) => (isJson(input) ? JSON.stringify(JSON.parse(input)) : input)
  return call.name === seen.name && plain(call.input) === plain(seen.input)
}

/** What must be at the client beside texts and calls: what the vendor, or the AI SDK's provider of it, gives of them. */
const markersOf =
  ({ vendor, feature }: Cell) =>
  ({ refusal: words, cites, reasoning }: Block): string[] => [
    ...(words !== undefined && !vendor.startsWith('gemini') && vendor !== 'ai-sdk' ? [words] : []),
    ...(cites !== undefined && vendor !== 'ai-sdk' ? [cites] : []),
    ...(reasoning && feature.fields !== undefined ? [reasoning] : []),
  ]

/** All texts of a JSON value, one after the other: fragments of a text become whole. */
function textsIn(json: string): string {
  return json === '[DONE]' ? '' : deltasIn(JSON.parse(json)).join('')
}

function deltasIn(value: Json, name = ''): string[] {
  if (typeof value === 'string')
    return [
      'id',
      'type',
      'object',
      'model',
      'role',
      'item_id',
      'system_fingerprint',
      'obfuscation',
      'responseId',
      'modelVersion',
      'finishReason',
      'thoughtSignature',
    ].includes(name)
      ? []
      : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => deltasIn(each, key))
}

function counted(answer: Answer, { usage }: Seen): readonly [Class, string] {
  const expected = usageOf(answer)
  if (answer.usage === undefined || answer.usage === null || expected === undefined || usage === undefined)
    return ['right', '']
  const wrong = (['input', 'output', 'cached', 'reasoning'] as const).filter((each) => usage[each] !== expected[each])
  if (wrong.length === 0) return ['right', '']
  const lost = wrong.every((each) => usage[each] === 0)
  return [
    lost ? 'lost' : 'wrong',
    `usage: ${wrong.map((each) => `${each} ${usage[each]} for ${expected[each]}`).join(', ')}`,
  ]
}
