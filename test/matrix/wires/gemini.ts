import { geminiDialect } from '../../../src/testing/dialects/gemini.ts'
import type { Answer, Block, Json } from '../feature.ts'
import { data, endOf, pieces, usageOf, type Wire } from './wire.ts'

const reasons = {
  stop: 'STOP',
  tools: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
  sequence: 'STOP',
}

/** Google's `generateContent`. */
export const gemini: Wire = {
  serves: (path) => /:(?:generate|streamGenerate)Content/.test(path),
  streams: (path) => path.includes(':streamGenerateContent'),
  errors: geminiDialect,
  body: (answer, model) => response(answer.blocks.flatMap(partOf), model, answer),
  frames: (answer, model) => {
    const parts = answer.blocks.flatMap((block) => {
      const { text, reasoning } = block
      if (text === undefined && reasoning === undefined) return partOf(block)
      const thought = reasoning !== undefined && { thought: true }
      return pieces(text ?? reasoning ?? '', answer).map((piece) => ({ text: piece, ...thought }))
    })
    const last = [{ text: '', thoughtSignature: 'c2lnbmVk' }]
    const frames = [...parts.map((part) => response([part], model)), response(last, model, answer)]
    return frames.map((frame) => data(frame, undefined, '\r\n\r\n'))
  },
}

function partOf({ text, reasoning, state = 'c2lnbmVk', call }: Block): Json[] {
  if (call) {
    const { id, name, input } = call
    return [{ functionCall: { id, name, args: argsOf(input) }, thoughtSignature: state }]
  }
  if (reasoning !== undefined) return [{ text: reasoning, thought: true }]
  return text === undefined ? [] : [{ text }]
}

function argsOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function response(parts: readonly Json[], model: string, end?: Answer): object {
  const isCited = end?.blocks.some(({ cites }) => cites !== undefined)
  const candidate = {
    content: { role: 'model', parts },
    ...(end && { finishReason: reasons[endOf(end)] }),
    ...(isCited && { groundingMetadata: groundingOf(end?.blocks ?? []) }),
    index: 0,
  }
  const usage = end && usageIn(end)
  return { candidates: [candidate], ...usage, responseId: 'scripted', modelVersion: model }
}

function groundingOf(blocks: readonly Block[]): object {
  let at = 0
  const segments = blocks.map(({ text = '' }) => ({ startIndex: at, endIndex: (at += Buffer.byteLength(text)), text }))
  return {
    webSearchQueries: ['pages'],
    groundingChunks: blocks.map(({ cites }) => ({ web: { uri: cites, title: 'A page' } })),
    groundingSupports: segments.map((segment, index) => ({ segment, groundingChunkIndices: [index] })),
  }
}

function usageIn(answer: Answer): object {
  const usage = usageOf(answer)
  if (usage === undefined) return {}
  const { input, cached, output, reasoning } = usage
  return {
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + output,
    },
  }
}
