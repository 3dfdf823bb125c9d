/** A fake Gemini API. It signs the first call of each step, and checks conversations as the real one does. */
import { gemini as provider } from 'modelhatch/providers'
import {
  endEvents,
  endJson,
  serveMaker,
  sign,
  thoughtOf,
  unknownKey,
  type Line,
  type Maker,
  type Sent,
} from './maker.ts'

const skip = 'skip_thought_signature_validator'

export async function gemini(account = 'google'): Promise<Maker> {
  const maker = await serveMaker({
    fault: (body) => faultIn(body, account),
    refuse: (message) => ({ status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }),
    answer(response, _, __, url) {
      const parts = partsFor(made.says, account)
      for (const { thoughtSignature } of parts) if (thoughtSignature !== undefined) maker.issued.push(thoughtSignature)
      const end = { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }
      const candidate = (some: Sent, finishReason?: string) => ({
        candidates: [{ index: 0, content: { role: 'model', parts: some }, ...(finishReason && { finishReason }) }],
        modelVersion: 'gemini-3-flash',
      })
      if (!url.includes('stream')) return endJson(response, { ...candidate(parts, 'STOP'), ...end })
      const pieces = [...parts.flatMap(streamed).map((part) => candidate([part])), { ...candidate([], 'STOP'), ...end }]
      endEvents(
        response,
        pieces.map((piece) => `data: ${JSON.stringify(piece)}\r\n\r\n`),
      )
    },
  })
  const made: Maker = {
    ...maker,
    name: 'gemini',
    provider: provider({ baseURL: maker.baseURL, apiKey: 'k' }),
    providerModel: 'gemini-3-flash',
    returned: ({ contents }) =>
      contents
        .flatMap(({ parts }: Sent) => parts)
        .flatMap(({ thoughtSignature: signature }: Sent) => (signature && signature !== skip ? [signature] : [])),
    says: { turn: 0, calls: 0 },
  }
  return made
}

/** In every other turn, calls have no ids. */
function partsFor(line: Line, account: string): Sent[] {
  const { turn, calls } = line
  const text = { text: `Gemini in turn ${turn}` }
  const functionCalls = Array.from({ length: calls }, (_, index) => {
    const functionCall = { name: 'now', args: { turn, index }, ...(turn % 2 === 0 && { id: `gem_${turn}_${index}` }) }
    return { functionCall, ...(index === 0 && { thoughtSignature: signatureOf(functionCall, account) }) }
  })
  const thought = { text: thoughtOf('Gemini', line), thought: true }
  const signedText = { ...text, thoughtSignature: signatureOf(undefined, account, `${turn}`) }
  return calls > 0 ? [thought, ...(turn % 3 === 0 ? [text] : []), ...functionCalls] : [thought, signedText]
}

/** The signature of a text arrives in a part of its own, after it. */
function streamed(part: Sent): Sent[] {
  const { text, thoughtSignature } = part
  return text === undefined || thoughtSignature === undefined ? [part] : [{ text }, { text: '', thoughtSignature }]
}

/** Signatures are bound to the call that they are on. */
function signatureOf(call: Sent, account: string, nonce = ''): string {
  return `${nonce}/${sign(`google of ${account}`, call === undefined ? nonce : [call.name, call.args])}`
}

/** The reason why the API rejects a request; undefined if it accepts it. */
function faultIn({ contents, tools }: Sent, account: string): string | undefined {
  if (contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified'
  if (contents[0].role !== 'user') return 'Please ensure that the conversation begins with a user turn.'
  for (const [index, { role, parts }] of contents.entries()) {
    if (parts.length === 0)
      return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`
    if (contents[index - 1]?.role === role)
      return 'Please ensure that multiturn requests alternate between user and model.'
    for (const part of parts) {
      const reason = faultOf(part, account)
      if (reason !== undefined) return reason
    }
    const calls = callsIn(parts)
    const answered = (contents[index + 1]?.parts ?? []).filter((part: Sent) => part.functionResponse)
    if (calls.length !== answered.length)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    if (
      answered.some(({ functionResponse }: Sent, at: number) => functionResponse.name !== calls[at].functionCall.name)
    )
      return 'Please ensure that function response names match those of the function calls.'
    if (calls.length > 0 && (tools ?? []).length > 0 && calls[0].thoughtSignature === undefined)
      return 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'
    if (role === 'user' && index > 0 && callsIn(contents[index - 1].parts).length === 0) {
      if (parts.some((part: Sent) => part.functionResponse))
        return 'Please ensure that function response turn comes immediately after a function call turn.'
    }
  }
  return undefined
}

function faultOf(part: Sent, account: string): string | undefined {
  const key = unknownKey(part, ['text', 'functionCall', 'functionResponse', 'thoughtSignature'])
  if (key !== undefined) return `Invalid JSON payload received. Unknown name "${key}"`
  const { thoughtSignature: signature, functionCall } = part
  if (signature === undefined || signature === skip) return undefined
  const [nonce] = signature.split('/')
  return signature === signatureOf(functionCall, account, nonce) ? undefined : 'Corrupted thought signature.'
}

function callsIn(parts: readonly Sent[]): Sent[] {
  return parts.filter((part) => part.functionCall)
}
