/** Turns → `systemInstruction` and `contents` of generateContent. */
import { objectIn } from '../../http/json.ts'
import type { Call } from '../contract.ts'
import type { AssistantTurn, ToolTurn, Turn, UserTurn } from '../reading/messages.ts'
import type { MediaPart, Part } from '../reading/parts.ts'
import { unsupported, unsupportedValue } from '../unsupported.ts'
import { carriedBy, signatureOf, type ContentPart } from './carried.ts'
import type { GeminiTraits } from './models.ts'
import type { FunctionNames } from './names.ts'

export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly ContentPart[]
}

export interface Conversation {
  readonly systemInstruction?: { readonly parts: readonly ContentPart[] }
  readonly contents: readonly Content[]
}

type Named = Pick<Call<unknown>, 'publicModel'>

/** What Google documents for calls whose signature nobody has, such as those that another vendor's model made. */
const noSignature = 'skip_thought_signature_validator'

/**
 * All instructions come in front. Neighbours of one role become one turn, in which the results of tools stand first:
 * there must be one behind each call.
 */
export function conversationOf(
  turns: readonly Turn[],
  call: Named,
  traits: GeminiTraits,
  names: FunctionNames,
): Conversation {
  const system = turns.flatMap((turn) => (turn.role === 'system' ? turn.parts.map(({ text }) => ({ text })) : []))
  const contents: { role: Content['role']; parts: ContentPart[] }[] = []
  const add = (role: Content['role'], parts: readonly ContentPart[]) => {
    const before = contents.at(-1)
    if (before?.role === role) before.parts.push(...parts)
    else if (parts.length > 0) contents.push({ role, parts: [...parts] })
  }
  if (!traits.instructions) add('user', system)
  for (const turn of turns) {
    if (turn.role === 'assistant') add('model', modelParts(turn, traits, names))
    else if (turn.role === 'tool') add('user', resultParts(turn, call, traits, names))
    else if (turn.role === 'user') add('user', userParts(turn, call))
  }
  // Instructions alone are a question too.
  if (contents.length === 0) add('user', system)
  else if (traits.instructions && system.length > 0) {
    return { systemInstruction: { parts: system }, contents: contents.map(resultsFirst) }
  }
  return { contents: contents.map(resultsFirst) }
}

function resultsFirst({ role, parts }: Content): Content {
  return { role, parts: [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))] }
}

function isResult(part: ContentPart): boolean {
  return 'functionResponse' in part
}

function userParts({ parts }: UserTurn, call: Named): ContentPart[] {
  return parts.map((part) => partOf(part, call))
}

function modelParts({ parts, calls, raw }: AssistantTurn, traits: GeminiTraits, names: FunctionNames): ContentPart[] {
  const { signature, own } = carriedBy(raw)
  const text = parts.map((part) => part.text).join('')
  const said = text === '' && signature === undefined ? [] : [{ text, ...signed(signature) }]
  const unsigned = calls.every((each) => signatureOf(each.raw) === undefined)
  const called = calls.map((each, index) => {
    const missing = traits.wantsSignatures && unsigned && index === 0 ? noSignature : undefined
    const functionCall = { id: each.id, name: names.there(each.name), args: each.input }
    return { functionCall, ...signed(signatureOf(each.raw) ?? missing) }
  })
  return [...own, ...said, ...called]
}

function signed(thoughtSignature: string | undefined): { thoughtSignature?: string } {
  return thoughtSignature === undefined ? {} : { thoughtSignature }
}

function resultParts(
  { callId, name: called, parts }: ToolTurn,
  call: Named,
  traits: GeminiTraits,
  names: FunctionNames,
): ContentPart[] {
  const name = names.there(called)
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const media = parts.filter((part) => part.kind !== 'text').map((part) => partOf(part, call))
  const inside = traits.richResults && media.length > 0
  const functionResponse = { id: callId, name, response: responseOf(text), ...(inside && { parts: media }) }
  return [{ functionResponse }, ...(inside ? [] : media)]
}

/** The API wants an object. A `$ref` in one would mean a part of the message. */
function responseOf(text: string): Readonly<Record<string, unknown>> {
  const value = text.includes('"$ref"') ? undefined : objectIn(text)
  return value ?? { output: text }
}

function partOf(part: Part, call: Named): ContentPart {
  return part.kind === 'text' ? { text: part.text } : mediaPart(part, call)
}

/** Addresses of Google's own that the API fetches; all others it does not. */
const fetched = /^https:\/\/(?:generativelanguage\.googleapis\.com\/|(?:www\.)?youtube\.com\/|youtu\.be\/)/

function mediaPart({ source, param }: MediaPart, call: Named): ContentPart {
  if ('fileId' in source) throw unsupported(call, param)
  if ('url' in source) {
    if (fetched.test(source.url)) return { fileData: { fileUri: source.url } }
    throw unsupportedValue(call, param, 'it cannot fetch addresses; send the data as a data URL.')
  }
  const { mediaType, base64 } = source
  return { inlineData: { mimeType: mediaType === 'audio/mpeg' ? 'audio/mp3' : mediaType, data: base64 } }
}
