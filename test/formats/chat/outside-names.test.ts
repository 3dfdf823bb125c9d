import { expect, test } from 'vitest'
import { chat } from '../../../src/formats/chat/chat.ts'
import { messages } from '../../../src/formats/messages/messages.ts'

/** Members that every object inherits. */
const inherited = ['constructor', 'toString', '__proto__', 'hasOwnProperty']

test.each(inherited)('a part of the type %s is one that only chats may have', (type) => {
  const { turns } = chat.readRequest({ model: 'm', messages: [{ role: 'user', content: [{ type, text: 'Hi' }] }] })
  expect(turns[0]?.blocks).toMatchObject([{ kind: 'own', format: 'chat', value: { type } }])
})

test.each(inherited)('an answer that ends with %s has just ended', (reason) => {
  const from = { maker: 'm', failure: (error: unknown) => new Error(String(error)) }
  const message = { role: 'assistant', content: 'Hi' }
  expect(chat.readAnswer({ choices: [{ message, finish_reason: reason }] }, from).choices[0]?.end?.reason).toBe('stop')
  const content = [{ type: 'text', text: 'Hi' }]
  expect(messages.readAnswer({ content, stop_reason: reason }, from).choices[0]?.end?.reason).toBe('stop')
})
