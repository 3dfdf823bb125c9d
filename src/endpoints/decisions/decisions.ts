/** Decisions: answers to typed questions, with probabilities. */
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
import { readDecision } from './request.ts'

/** `POST /v1/decisions`. */
export const decisions: CallEndpoint<DecisionRequest, DecisionList> = defineEndpoint({
  method: 'POST',
  path: '/v1/decisions',
  name: 'decisions',
  makes: 'decisions',
  read: readDecision,
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
