/** Decisions: answers to typed questions, with probabilities. Source of the fields: OpenAI's client library. */
import * as z from 'zod'
import { readTokenUsage, tokenUsage } from '../../wire/counts.ts'
import { jsonReply } from '../../http/answers.ts'
import { stringsIn, withStrings } from '../../inspect/strings.ts'
import { billed, ProviderError, unreadable } from '../../providers/failure.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { isRecord } from '../../wire/json.ts'
import type { DecisionAnswer, DecisionList, DecisionRequest } from '../../wire/decisions.ts'
import { usageOf } from '../../wire/usage.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { jsonReader } from '../json-reader.ts'
import { lazy } from '../../records/lazy.ts'

const question = lazy(() => ({
  name: z.string().nullish(),
  instructions: z.union([z.string().min(1), z.array(z.looseObject({ type: z.string() })).min(1)]),
}))

const choice = lazy(() =>
  z.looseObject({ value: z.union([z.string(), z.boolean()]), description: z.string().nullish() }),
)
const level = lazy(() => z.looseObject({ label: z.string(), description: z.string().nullish() }))

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    input: z.union([z.string().min(1), z.array(z.looseObject({})).min(1)]),
    questions: z
      .array(
        z.discriminatedUnion('type', [
          z.looseObject({ type: z.literal('predicate'), ...question() }),
          z.looseObject({ type: z.literal('choice'), choices: z.array(choice()).min(2), ...question() }),
          z.looseObject({ type: z.literal('score'), levels: z.array(level()).min(2), ...question() }),
        ]),
      )
      .min(1),
  }),
)

/** `POST /v1/decisions`. */
export const decisions: CallEndpoint<DecisionRequest, DecisionList> = defineEndpoint({
  method: 'POST',
  path: '/v1/decisions',
  name: 'decisions',
  makes: 'decisions',
  read: jsonReader<DecisionRequest>(schema, { stream: false }),
  texts: ['input', 'questions'],
  async ask(provider, call, { meter, order, inspection }) {
    const list = await decided(provider, call)
    const usage = readTokenUsage(list.usage)
    meter.usage = usage
    meter.estimate = usageOf(order.promptTokens, 0)
    const { questions } = call.request
    const answers = list.answers.filter(isRecord)
    if (answers.length !== questions.length || list.answers.length !== questions.length)
      throw billed(
        unreadable(`the provider gave ${list.answers.length} answers to ${questions.length} questions`),
        usage,
      )
    const named = answers.map((answer, index): DecisionAnswer => {
      return { ...answer, name: answer.name ?? questions[index]?.name ?? null }
    })
    const seen =
      inspection?.seesAnswers === true ? withStrings(named, await inspection.answeredTexts(stringsIn(named))) : named
    const checked: DecisionList = { ...list, answers: seen }
    return checked
  },
  whole(list, { order, meter }) {
    const counted = meter.usage ?? meter.estimate
    return jsonReply({ ...list, model: order.model, ...(counted && { usage: tokenUsage(counted) }) })
  },
})

async function decided(provider: Provider, call: Call<DecisionRequest>): Promise<DecisionList> {
  if (provider.decide === undefined) {
    const message = 'This model does not make decisions.'
    throw new ProviderError('unsupported_value', { param: 'model', message, retry: 'skip', begun: false })
  }
  const list = await provider.decide(call)
  if (!Array.isArray(list.answers)) throw unreadable('the response of the vendor has no answers')
  return list
}
