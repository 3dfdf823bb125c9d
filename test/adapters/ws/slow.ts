import { defineProvider, type Call } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { saidBy } from './world.ts'

/** A model that says one word, and the rest when the test lets it. */
export function slow() {
  const asked: Call<ChatRequest>[] = []
  const gates: PromiseWithResolvers<void>[] = []
  const gate = (index: number) => (gates[index] ??= Promise.withResolvers<void>())
  const provider = defineProvider({
    name: 'slow',
    async *chat(call: Call<ChatRequest>) {
      const index = asked.push(call) - 1
      yield text(`${saidBy(call.request)} `)
      await Promise.race([
        gate(index).promise,
        new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason as Error))),
      ])
      yield text('end')
      yield finish('stop', usageOf(10, 5))
    },
  })
  return { provider, asked, goOn: (index: number) => gate(index).resolve() }
}
