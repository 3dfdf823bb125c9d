/** The tables of types and of beta features have all that the newest SDKs publish. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { betaName, betas } from '../../../src/providers/costs/betas.ts'
import {
  chatConversation,
  messageConversation,
  responseConversation,
  type ConversationTypes,
} from '../../../src/providers/costs/conversation.ts'
import { literalsIn } from './sdk-types.ts'

const resource = (path: string) =>
  fileURLToPath(new URL(`${path}.d.ts`, new URL('../../../node_modules/', import.meta.url)))
const openai = (path: string) => resource(`openai/resources/${path}`)
const claude = (path: string) => resource(`@anthropic-ai/sdk/resources/${path}`)

/** Definitions of tools, which are checked like the field `tools`, and members that only mention something. */
const elsewhere = ['tools', 'definition', 'caller', 'annotations']

test.each<[string, ConversationTypes, [file: string, type: string][]]>([
  ['chats', chatConversation, [[openai('chat/completions/completions'), 'ChatCompletionMessageParam']]],
  [
    'responses',
    responseConversation,
    [
      [openai('responses/responses'), 'ResponseInputItem'],
      [openai('responses/responses'), 'ResponseOutputItem'],
      [openai('beta/responses/responses'), 'BetaResponseInputItem'],
    ],
  ],
  [
    'messages',
    messageConversation,
    [
      [claude('messages/messages'), 'MessageParam'],
      [claude('messages/messages'), 'ContentBlock'],
      [claude('beta/messages/messages'), 'BetaMessageParam'],
      [claude('beta/messages/messages'), 'BetaContentBlock'],
    ],
  ],
])('%s', (_, { types }, published) => {
  for (const [file, type] of published) {
    const names = [...literalsIn(file, type, elsewhere)]
    expect(names.length, type).toBeGreaterThan(6)
    expect(
      names.filter((name) => !types.has(name)),
      type,
    ).toEqual([])
  }
})

test('beta features', () => {
  const names = [...literalsIn(claude('beta/beta'), 'AnthropicBeta')]
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name) => !betas.has(betaName(name)))).toEqual([])
})
