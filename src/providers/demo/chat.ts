/** Serves chats: the response is planned as a whole, then emitted token by token. */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import type { Call } from '../contract.ts'
import { finish } from '../chunks.ts'
import { yieldIfLarge } from '../yielding.ts'
import type { ChatChunk, ChatRequest } from '../../wire/chat.ts'
import { usageOf } from '../../wire/usage.ts'
import { checkRequest } from './check.ts'
import { planOf } from './plan.ts'
import { promptTokens } from './tokens.ts'

/** Number of pieces emitted in one turn of the event loop. */
const piecesPerTurn = 256

export async function* chat(call: Call<ChatRequest>, paceMs: number): AsyncGenerator<ChatChunk, void, void> {
  const { request, signal } = call
  await yieldIfLarge(call)
  checkRequest(request)
  await yieldIfLarge(call)
  const { steps, reason } = planOf(request)
  let emitted = 0
  const choices = Array.from({ length: request.n ?? 1 }, (_, index) => index)
  for (const [at, { delta }] of steps.entries()) {
    if (at > 0 && paceMs > 0) await pause(paceMs, undefined, { signal, ref: false })
    else if (emitted >= piecesPerTurn) {
      emitted = 0
      await breathe()
    }
    emitted += choices.length
    signal.throwIfAborted()
    const logprobs = request.logprobs === true && delta.content ? { logprobs: logprobsOf(delta.content, request) } : {}
    for (const index of choices) yield { choices: [{ index, delta, ...logprobs }] }
  }
  const completionTokens = steps.reduce((sum, { tokens }) => sum + tokens, 0)
  const usage = usageOf(promptTokens(request), completionTokens * choices.length)
  for (const index of choices) yield finish(reason, index === choices.length - 1 ? usage : undefined, index)
}

/** Logprobs: a model of fixed rules gives every token the probability 1. */
function logprobsOf(token: string, { top_logprobs: top }: ChatRequest): object {
  const chance = { token, logprob: 0, bytes: [...Buffer.from(token)] }
  return { content: [{ ...chance, top_logprobs: Number(top) > 0 ? [chance] : [] }], refusal: [] }
}
