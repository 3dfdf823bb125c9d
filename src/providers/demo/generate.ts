/** Answers conversations: the answer is planned as a whole, then sent token by token. */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import type { Conversation, TokenLogprob } from '../../conversation/conversation.ts'
import type { Reason } from '../../conversation/parts.ts'
import { objectOf } from '../../conversation/json.ts'
import { usageOf } from '../../wire/usage.ts'
import type { Call } from '../contract.ts'
import { retrySame } from '../failure.ts'
import type { GeneratedPart } from '../generated-part.ts'
import { finish, text, toolCall } from '../parts.ts'
import { vendorError } from '../vendor-error.ts'
import { yieldIfLarge } from '../yielding.ts'
import { answerTo } from './answer.ts'
import { callsFor } from './calls.ts'
import { fitting } from './fitting.ts'
import { Hints } from './hints.ts'
import { promptOf, type Prompt } from './prompt.ts'
import { countTokens, promptTokens, tokensOf } from './tokens.ts'

/** Parts that are sent in one turn of the event loop, and tokens of an answer in all choices together. */
const [partsPerTurn, maxTokens] = [256, 32_768]

interface Step {
  readonly part: (choice: number) => GeneratedPart
  readonly tokens: number
}

export async function* generate(call: Call<Conversation>, paceMs: number): AsyncGenerator<GeneratedPart, void, void> {
  const { request, signal } = call
  const { settings } = request
  const prompt = promptOf(request)
  failIfAsked(prompt, call)
  const promptCount = promptTokens(request)
  await yieldIfLarge(call)
  const choices = Array.from({ length: settings.choices ?? 1 }, (_, index) => index)
  const most = Math.max(Math.floor(maxTokens / choices.length), 1)
  const { steps, reason } = planOf(request, prompt, Math.min(settings.max ?? most, most))
  const breakAt = Number(/\bbreak off after (\d{1,4}) (?:tokens?|words?)\b/i.exec(prompt.question)?.[1] ?? NaN)
  let sent = 0
  for (const [at, { part }] of steps.entries()) {
    if (at === breakAt) throw retrySame(new Error('the demo model was asked to break off'))
    if (at > 0 && paceMs > 0) await pause(paceMs, undefined, { signal, ref: false })
    else if (sent >= partsPerTurn) {
      sent = 0
      await breathe()
    }
    sent += choices.length
    signal.throwIfAborted()
    for (const choice of choices) yield part(choice)
  }
  const tokens = steps.reduce((sum, step) => sum + step.tokens, 0)
  const usage = usageOf(promptCount, tokens * choices.length)
  for (const choice of choices) yield finish(reason, choice === choices.length - 1 ? usage : undefined, choice)
}

/** `Fail with 429`: the error that a vendor's response with this status becomes. */
function failIfAsked({ question }: Prompt, { openModel }: Call<Conversation>): void {
  const status = Number(/\bfail with (?:status |error )?([45]\d\d)\b/i.exec(question)?.[1] ?? NaN)
  if (status >= 400) throw vendorError({ status, error: { message: 'The demo model was asked to fail.' }, openModel })
}

function planOf(request: Conversation, prompt: Prompt, limit: number): { steps: readonly Step[]; reason: Reason } {
  const calls = callsFor(request, prompt)
  const whole =
    calls.length > 0
      ? calls.flatMap(stepsOfCall)
      : // A token has at most nine characters.
        stepsOfText(inForm(answerTo(prompt), request, prompt).slice(0, (limit + 1) * 9), request.settings.logprobs)
  let tokens = 0
  const end = whole.findIndex((step) => (tokens += step.tokens) > limit)
  if (end < 0) return { steps: whole, reason: calls.length > 0 ? 'calls' : 'stop' }
  return { steps: end === 0 ? stepsOfText('', undefined) : whole.slice(0, end), reason: 'length' }
}

function stepsOfText(whole: string, logprobs: number | undefined): Step[] {
  if (whole === '') return [{ part: (choice) => text('', choice), tokens: 0 }]
  return tokensOf(whole).map((token) => {
    if (logprobs === undefined) return { part: (choice) => text(token, choice), tokens: 1 }
    // A model of fixed rules is certain of every token.
    const chance: TokenLogprob = { token, logprob: 0, bytes: [...Buffer.from(token)] }
    const certain = [{ ...chance, top_logprobs: logprobs > 0 ? [chance] : [] }]
    return { part: (choice) => ({ kind: 'text', choice, text: token, logprobs: certain }), tokens: 1 }
  })
}

function stepsOfCall({ name, input }: { name: string; input: string }): Step[] {
  const pieces = tokensOf(input)
  return [
    { part: (choice) => toolCall({ name }, choice), tokens: countTokens(name) },
    ...pieces.map((piece): Step => ({ part: (choice) => toolCall({ arguments: piece }, choice), tokens: 1 })),
  ]
}

/** The answer as JSON if that was asked for: a value that fits the schema, or an object with the answer. */
function inForm(answer: string, { output }: Conversation, { question }: Prompt): string {
  if (output === undefined) return answer
  if (output.kind === 'schema') return JSON.stringify(fitting(output.schema, new Hints(question)))
  return objectOf(answer) === undefined ? JSON.stringify({ answer }) : answer
}
