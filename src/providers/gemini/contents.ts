/** Translates a conversation to `systemInstruction` and `contents` of generateContent. */
import { objectIn } from '../../http/json.ts'
import type { AssistantTurn, ToolTurn, Turn, UserTurn } from '../reading/messages.ts'
import type { MediaPart, Part } from '../reading/parts.ts'
import { unsupported, unsupportedValue, type NamedCall } from '../unsupported.ts'
import { ownPartsOf, signatureOf, type ContentPart } from './extra-content.ts'
import type { GeminiTraits } from './models.ts'
import type { FunctionNames } from './names.ts'

export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly ContentPart[]
}

export interface GeminiConversation {
  readonly systemInstruction?: { readonly parts: readonly ContentPart[] }
  readonly contents: readonly Content[]
}

/** Google's documented value for tool calls without a signature, such as those of another vendor's model. */
const noSignature = 'skip_thought_signature_validator'

/**
 * Moves all instructions to the front. Adjacent messages of one role become one turn, with tool results first, because
 * they must directly follow their calls. Without `keepsSignatures`, calls are marked as unsigned.
 */
export function conversationOf(
  turns: readonly Turn[],
  call: NamedCall,
  traits: GeminiTraits,
  names: FunctionNames,
  keepsSignatures: boolean = true,
): GeminiConversation {
  const system = turns.flatMap((turn) => (turn.role === 'system' ? turn.parts.map(({ text }) => ({ text })) : []))
  const contents: { role: Content['role']; parts: ContentPart[] }[] = []
  const add = (role: Content['role'], parts: readonly ContentPart[]) => {
    const before = contents.at(-1)
    if (before?.role === role) before.parts.push(...parts)
    else if (parts.length > 0) contents.push({ role, parts: [...parts] })
  }
  if (!traits.instructions) add('user', system)
  for (const turn of turns) {
    if (turn.role === 'assistant') add('model', modelParts(turn, traits, names, keepsSignatures))
    else if (turn.role === 'tool') add('user', resultParts(turn, call, traits, names))
    else if (turn.role === 'user') add('user', userParts(turn, call))
  }
  // A request with only instructions is valid, but `contents` must not be empty.
  if (contents.length === 0) add('user', system)
  else if (traits.instructions && system.length > 0) {
    return { systemInstruction: { parts: system }, contents: contents.map(resultsFirst) }
  }
  return { contents: contents.map(resultsFirst) }
}

/** Whether a conversation contains signatures of earlier responses. */
export function hasSignatures({ contents }: GeminiConversation): boolean {
  return contents.some(({ role, parts }) => role === 'model' && parts.some(isSigned))
}

function isSigned({ thoughtSignature: signature = noSignature }: ContentPart): boolean {
  return signature !== noSignature
}

function resultsFirst({ role, parts }: Content): Content {
  return { role, parts: [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))] }
}

function isResult(part: ContentPart): boolean {
  return 'functionResponse' in part
}

function userParts({ parts }: UserTurn, call: NamedCall): ContentPart[] {
  return parts.map((part) => partOf(part, call))
}

function modelParts(
  { parts, calls, raw }: AssistantTurn,
  traits: GeminiTraits,
  names: FunctionNames,
  keepsSignatures: boolean,
): ContentPart[] {
  const known = (message: Readonly<Record<string, unknown>>) => (keepsSignatures ? signatureOf(message) : undefined)
  const signature = known(raw)
  const text = parts.map((part) => part.text).join('')
  const texts = text === '' && signature === undefined ? [] : [{ text, ...signatureField(signature) }]
  const functionCalls = calls.map((each, index) => {
    // Of calls in parallel, the vendor signs the first.
    const missing = traits.wantsSignatures && index === 0 ? noSignature : undefined
    const functionCall = { id: each.id, name: names.toVendor(each.name), args: each.input }
    return { functionCall, ...signatureField(known(each.raw) ?? missing) }
  })
  return [...ownParts(raw, keepsSignatures), ...texts, ...functionCalls]
}

/** The parts of the vendor's built-in tools, each with its signature inside. */
function ownParts(raw: Readonly<Record<string, unknown>>, keepsSignatures: boolean): readonly ContentPart[] {
  const own = ownPartsOf(raw)
  if (keepsSignatures) return own
  return own.map((part) => {
    const { thoughtSignature: _, ...unsigned } = part
    return unsigned
  })
}

function signatureField(thoughtSignature: string | undefined): { thoughtSignature?: string } {
  return thoughtSignature === undefined ? {} : { thoughtSignature }
}

function resultParts(
  { callId, name: called, parts }: ToolTurn,
  call: NamedCall,
  traits: GeminiTraits,
  names: FunctionNames,
): ContentPart[] {
  const name = names.toVendor(called)
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const media = parts.filter((part) => part.kind !== 'text').map((part) => partOf(part, call))
  const inside = traits.richResults && media.length > 0
  const functionResponse = { id: callId, name, response: responseOf(text), ...(inside && { parts: media }) }
  return [{ functionResponse }, ...(inside ? [] : media)]
}

/** The API requires an object. Text with `$ref` is not passed as one, because the API would resolve the reference. */
function responseOf(text: string): Readonly<Record<string, unknown>> {
  const value = text.includes('"$ref"') ? undefined : objectIn(text)
  return value ?? { output: text }
}

function partOf(part: Part, call: NamedCall): ContentPart {
  return part.kind === 'text' ? { text: part.text } : mediaPart(part, call)
}

/** The URLs that the API fetches: only Google's own. */
const fetched = /^https:\/\/(?:generativelanguage\.googleapis\.com\/|(?:www\.)?youtube\.com\/|youtu\.be\/)/

function mediaPart({ source, param }: MediaPart, call: NamedCall): ContentPart {
  if ('fileId' in source) throw unsupported(call, param)
  if ('url' in source) {
    if (fetched.test(source.url)) return { fileData: { fileUri: source.url } }
    throw unsupportedValue(call, param, 'the vendor does not fetch URLs; send the data as a data URL.')
  }
  const { mediaType, base64 } = source
  return { inlineData: { mimeType: mediaType === 'audio/mpeg' ? 'audio/mp3' : mediaType, data: base64 } }
}
