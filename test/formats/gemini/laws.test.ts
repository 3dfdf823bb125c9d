import { describe } from 'vitest'
import { gemini } from '../../../src/formats/gemini/gemini.ts'
import { traitsOf } from '../../../src/providers/gemini/models.ts'
import type { Block } from '../../../src/conversation/conversation.ts'
import { isTextOnly } from '../../../src/formats/chat/states.ts'
import type { Answer } from '../../../src/conversation/parts.ts'
import { answerLaws, asked, from, prefixLaw, requestLaw } from '../laws.ts'
import { answers, conversations } from './sayings.ts'

const google = { model: 'public', maker: 'google' }

describe('requests', () => {
  requestLaw({ format: gemini, target: { ...google, traits: {} }, conversations })
})

describe('requests for a model', () => {
  prefixLaw({
    format: gemini,
    target: { ...google, traits: { ...traitsOf('gemini-3-flash'), fetchesUrls: true } },
    conversations,
    fixed: ['systemInstruction', 'tools'],
    growing: 'contents',
  })
})

describe('answers', () => {
  answerLaws({ format: gemini, answers, asked, from: { ...from, maker: 'google' }, normal: uncounted })
})

/** What is counted depends on the vendor; metadata of citations is kept as it was. */
function uncounted(answer: Answer): Answer {
  const { usage: _, counters: __, choices, ...rest } = answer
  return {
    ...rest,
    choices: choices.map(({ own, blocks, ...others }) => {
      const choice = { ...others, blocks: blocks.map(withoutTextState) }
      const { groundingMetadata: ___, ...more } = own?.gemini ?? {}
      return Object.keys(more).length > 0 ? { ...choice, own: { gemini: more } } : choice
    }),
  }
}

/** Thoughts have a state even if the wire has none of them. */
function withoutTextState(block: Block): Block {
  if (block.state === undefined || !isTextOnly(block.state)) return block
  const { state: _, ...rest } = block
  return rest
}
