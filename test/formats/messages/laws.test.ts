import { describe } from 'vitest'
import type { Block, Conversation } from '../../../src/conversation/conversation.ts'
import type { Answer } from '../../../src/conversation/parts.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { traitsOf } from '../../../src/providers/anthropic/models.ts'
import { answerLaws, from, prefixLaw, requestLaw } from '../laws.ts'
import { answers, conversations } from './sayings.ts'

describe('a request of the Messages wire', () => {
  requestLaw({
    format: messages,
    target: { model: 'm', maker: 'anthropic', traits: { systemAnywhere: true } },
    conversations,
    normal: trimmed,
  })
})

/** The API rejects white space at the end of an answer that the model is to continue. */
function trimmed(conversation: Conversation): Conversation {
  const { turns } = conversation
  const last = turns.at(-1)
  const end = last?.blocks.at(-1)
  if (last?.role !== 'assistant' || end?.kind !== 'text') return conversation
  const blocks = [...last.blocks.slice(0, -1), { ...end, text: end.text.trimEnd() }]
  return { ...conversation, turns: [...turns.slice(0, -1), { ...last, blocks }] }
}

describe.each(['claude-sonnet-4-5', 'claude-opus-5-5', 'claude-opus-4-1'])('a request for %s', (model) => {
  prefixLaw({
    format: messages,
    target: { model, maker: 'anthropic', traits: { claude: traitsOf(model) } },
    conversations: conversations.map(withoutFiles),
    fixed: ['tools', 'system'],
    growing: 'messages',
  })
})

/** Files that are named by another vendor's ids are refused. Without tools, those of earlier calls are declared. */
function withoutFiles(conversation: Conversation): Conversation {
  const turns = conversation.turns.map((turn) => ({ ...turn, blocks: turn.blocks.map(withoutFile) }))
  const tools = conversation.tools.length > 0 ? conversation.tools : [{ kind: 'function', name: 'tool' } as const]
  return { ...conversation, tools, turns }
}

function withoutFile(block: Block): Block {
  if (block.kind === 'result') return { ...block, blocks: block.blocks.map(withoutFile) }
  return block.kind === 'media' && 'id' in block.source ? { kind: 'text', text: 'A file.' } : block
}

describe('an answer of the Messages wire', () => {
  answerLaws({ format: messages, answers, from: { ...from, maker: 'anthropic' }, normal: comparable })
})

/** What the writer adds for clients: usage, the caller of a call, the details of a refusal; the reader, state for others. */
function comparable({ choices }: Answer): Answer {
  return {
    choices: choices.map(({ blocks, end }) => ({
      blocks: blocks.map((block) => {
        if (block.kind === 'own') return { kind: block.kind, format: block.format, value: block.value }
        if (block.kind !== 'call') return block
        const { own: _, ...call } = block
        return call
      }),
      end: { reason: end?.reason ?? 'stop' },
    })),
  }
}
