import { describe } from 'vitest'
import type { Block } from '../../../src/conversation/conversation.ts'
import type { Answer } from '../../../src/conversation/parts.ts'
import { responses } from '../../../src/formats/responses/responses.ts'
import { answerLaws, prefixLaw, requestLaw } from '../laws.ts'
import { answers, conversations } from './sayings.ts'

describe('a request of the Responses wire', () => {
  requestLaw({ format: responses, target: { model: 'm', maker: 'responses', traits: {} }, conversations })
})

describe('a request for a vendor that keeps nothing', () => {
  prefixLaw({
    format: responses,
    target: { model: 'm', maker: 'vendor', traits: { stateless: true, leastTokens: 16 } },
    conversations,
    fixed: ['tools', 'instructions'],
    growing: 'input',
  })
})

describe('an answer of the Responses wire', () => {
  answerLaws({ format: responses, answers, normal: comparable })
})

/** Without the vendor's own counters, and without the marks of the parts of one message. */
function comparable({ choices, usage }: Answer): Answer {
  return {
    choices: choices.map(({ blocks, end }) => ({ blocks: blocks.map(withoutPart), ...(end !== undefined && { end }) })),
    ...(usage !== undefined && {
      usage: {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        total_tokens: usage.total_tokens,
      },
    }),
  }
}

function withoutPart(block: Block): Block {
  const { part, ...more } = block.own?.responses ?? {}
  if (part === undefined) return block
  const { own: _, ...rest } = block
  return Object.keys(more).length === 0 ? rest : { ...rest, own: { responses: more } }
}
