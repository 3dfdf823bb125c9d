import { openaiDialect } from '../../../src/testing/dialects/openai.ts'
import type { Answer, Block, Json } from '../feature.ts'
import { cited, created, data, endOf, joined, pieces, usageOf, type Wire } from './wire.ts'

const reasons = {
  stop: 'stop',
  tools: 'tool_calls',
  length: 'length',
  filter: 'content_filter',
  refusal: 'stop',
  sequence: 'stop',
}

/** OpenAI's chat completions. */
export const chat: Wire = {
  serves: (path) => path.endsWith('/chat/completions'),
  errors: openaiDialect,
  body: (answer, model) => {
    const { blocks } = answer
    const calls = blocks.flatMap(({ call }) => (call ? [toolCall(call)] : []))
    const annotations = blocks.flatMap(annotationsOf)
    const thought = blocks.find(({ reasoning }) => reasoning !== undefined)
    const message = {
      role: 'assistant',
      content: joined(blocks, 'text') ?? null,
      refusal: joined(blocks, 'refusal') ?? null,
      ...(thought && { [thought.field ?? 'reasoning_content']: joined(blocks, 'reasoning') }),
      ...(annotations.length > 0 && { annotations }),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: reasons[endOf(answer)] }]
    return { ...head(model), object: 'chat.completion', choices, ...usageIn(answer) }
  },
  frames: (answer, model) => {
    const common = { ...head(model), object: 'chat.completion.chunk' }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({ ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })
    let index = 0
    const frames = answer.blocks.flatMap((block) => {
      const { text, refusal, reasoning, field = 'reasoning_content', call } = block
      if (call) {
        const { function: named, ...rest } = toolCall(call)
        const at = index++
        const begin = chunk({ tool_calls: [{ index: at, ...rest, function: { ...named, arguments: '' } }] })
        const more = (piece: string) => chunk({ tool_calls: [{ index: at, function: { arguments: piece } }] })
        return [begin, ...pieces(call.input, answer).map(more)]
      }
      const name = text === undefined ? (refusal === undefined ? field : 'refusal') : 'content'
      const annotations = annotationsOf(block)
      return [
        ...pieces(text ?? refusal ?? reasoning ?? '', answer).map((piece) => chunk({ [name]: piece })),
        ...(annotations.length > 0 ? [chunk({ annotations })] : []),
      ]
    })
    const usage = answer.usage === null ? [] : [data({ ...common, choices: [], ...usageIn(answer) })]
    const first = chunk({ role: 'assistant', content: '', refusal: null })
    return [first, ...frames, chunk({}, reasons[endOf(answer)]), ...usage, 'data: [DONE]\n\n']
  },
}

const head = (model: string) => ({ id: 'chatcmpl-scripted', created, model, system_fingerprint: 'fp_scripted' })

function toolCall({ id, name, input }: NonNullable<Block['call']>) {
  return { id, type: 'function', function: { name, arguments: input } }
}

function annotationsOf(block: Block): Json[] {
  return cited(block).map((url_citation) => ({ type: 'url_citation', url_citation }))
}

function usageIn(answer: Answer): object {
  const usage = usageOf(answer)
  if (usage === undefined) return {}
  const { input, cached, written, output, reasoning } = usage
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached, ...(written > 0 && { cache_write_tokens: written }) },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  }
}
