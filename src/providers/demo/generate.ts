/** Answers conversations: the answer is planned as a whole, then sent token by token. */
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
import { breaks, pace } from './breaks.ts'
import { callsFor, type PlannedCall } from './calls.ts'
import { fittingFor } from './fitting.ts'
import { promptOf, type Prompt } from './prompt.ts'
import { countTokens, promptTokens, tokensOf } from './tokens.ts'

/** Tokens of an answer in all choices together, and the work that a part is for the event loop. */
const [maxTokens, partWork] = [32_768, 125]

type Step = readonly [part: (choice: number) => GeneratedPart, tokens: number]

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
  const rest = breaks()
  for (const [at, [part]] of steps.entries()) {
    if (at === breakAt) throw retrySame(new Error('the demo model was asked to break off'))
    await (at > 0 && paceMs > 0 ? pace(call, paceMs) : rest(choices.length * partWork))
    signal.throwIfAborted()
    for (const choice of choices) yield part(choice)
  }
  const tokens = steps.reduce((sum, [, count]) => sum + count, 0)
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
  const whole = calls.length > 0 ? calls.flatMap(stepsOfCall) : stepsOfText(request, prompt, limit)
  let tokens = 0
  const end = whole.findIndex(([, count]) => (tokens += count) > limit)
  if (end < 0) return { steps: whole, reason: calls.length > 0 ? 'calls' : 'stop' }
  return { steps: end === 0 ? nothing : whole.slice(0, end), reason: 'length' }
}

const nothing: readonly Step[] = [[(choice) => text('', choice), 0]]

function stepsOfText(request: Conversation, prompt: Prompt, limit: number): readonly Step[] {
  const { logprobs } = request.settings
  // A token has at most nine characters.
  const tokens = tokensOf(inForm(answerTo(prompt), request, prompt).slice(0, (limit + 1) * 9))
  if (tokens.length === 0) return nothing
  return tokens.map((token) => {
    if (logprobs === undefined) return [(choice) => text(token, choice), 1]
    // A model of fixed rules is certain of every token.
    const chance: TokenLogprob = { token, logprob: 0, bytes: [...Buffer.from(token)] }
    const certain = [{ ...chance, top_logprobs: logprobs > 0 ? [chance] : [] }]
    return [(choice) => ({ kind: 'text', choice, text: token, logprobs: certain }), 1]
  })
}

function stepsOfCall({ name, input }: PlannedCall): Step[] {
  const pieces = tokensOf(input).map((piece): Step => [(choice) => toolCall({ arguments: piece }, choice), 1])
  return [[(choice) => toolCall({ name }, choice), countTokens(name)], ...pieces]
}

/** The answer as JSON if that was asked for: a value that fits the schema, or an object with the answer. */
function inForm(answer: string, { output }: Conversation, { question }: Prompt): string {
  if (output === undefined) return answer
  if (output.kind === 'schema') return JSON.stringify(fittingFor(question)(output.schema))
  return objectOf(answer) === undefined ? JSON.stringify({ answer }) : answer
}
