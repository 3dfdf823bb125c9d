import { describe } from 'vitest'
import type { Block } from '../../../src/conversation/conversation.ts'
import type { Answer } from '../../../src/conversation/parts.ts'
import { chat } from '../../../src/formats/chat/chat.ts'
import { answerLaws, prefixLaw, requestLaw } from '../laws.ts'
import { answers, conversations } from './sayings.ts'
import { everything } from './traits.ts'

describe('a request of the chat wire', () => {
  requestLaw({ format: chat, target: { model: 'm', maker: 'nobody', traits: everything }, conversations })
})

describe.each([
  ['everything', everything],
  ['no more than every chat', {}],
])('a request for a vendor that takes %s', (_, traits) => {
  prefixLaw({
    format: chat,
    target: { model: 'm', maker: 'vendor', traits },
    conversations,
    fixed: ['tools'],
    growing: 'messages',
  })
})

describe('an answer of the chat wire', () => {
  answerLaws({ format: chat, answers, normal: comparable })
})

/** What the reader adds: where the vendor wrote its reasoning, its own counters, and its own fields. */
function comparable({ choices, usage }: Answer): Answer {
  return {
    choices: choices.map(({ blocks, end }) => ({ blocks: blocks.map(withoutState), end: end ?? { reason: 'stop' } })),
    ...(usage !== undefined && { usage }),
  }
}

function withoutState(block: Block): Block {
  if (block.kind !== 'reasoning') return block
  const { text, own } = block
  return own === undefined ? { kind: 'reasoning', text } : { kind: 'reasoning', text, own }
}
