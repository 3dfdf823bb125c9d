/** Tokens that a vendor bills and no client sees: reasoning of which the response has only a summary, or nothing. */
import type { Receipt } from '../money/receipt.ts'
import type { Deployment, Model } from '../models/contract.ts'
import { Averages } from './averages.ts'
import type { Field } from './output-length.ts'

/** Models that reason in every response, or whenever they find it useful. */
const reasoning = /\b(?:o[1-9]|gpt-(?:[5-9]|\d\d)|codex|computer-use|grok-(?:3-mini|code|[4-9]))|deep-research/i
const plain = /gpt-[\d.]+-chat|non-reasoning/i

/** Vendors that show no reasoning in any response, so that their future models count as well. */
const secretive = /^https:\/\/(?:[\w.-]+\.)?(?:api\.openai\.com|openai\.azure\.com|api\.x\.ai)\b/
const known = /gpt-[34]|chatgpt|davinci|babbage|grok-[123]\b/i

/** Fields with which a request asks for reasoning, or for none. */
const fields = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'output_config'] as const

/** Whether the response to a request may have tokens that the client does not see. */
export function hidesTokens({ deployments }: Pick<Model, 'deployments'>, field: Field): boolean {
  if (deployments.some(reasonsUnseen)) return true
  return !deployments.every(showsReasoning) && fields.some((name) => isOn(field(name)))
}

const unseen = new WeakMap<Deployment, boolean>()

function reasonsUnseen(deployment: Deployment): boolean {
  let reasons = unseen.get(deployment)
  if (reasons === undefined) {
    const { provider, model } = deployment
    const isSecret = secretive.test(provider.origin ?? '') && !known.test(model)
    reasons = !plain.test(model) && (reasoning.test(model) || isSecret)
    unseen.set(deployment, reasons)
  }
  return reasons
}

/** Vendors that take the reasoning back in the next turn have shown it. */
function showsReasoning({ provider: { chatTraits } }: Deployment): boolean {
  return chatTraits?.reasoning === true
}

function isOn(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return value !== undefined && value !== null && value !== false && value !== 'none'
  }
  const { type, effort, enabled } = value as Readonly<Record<string, unknown>>
  if (type === 'disabled' || effort === 'none' || enabled === false) return false
  return type !== undefined || effort !== undefined || enabled === true
}

/** Tokens in a second that are assumed of a deployment before its first response, and the least and most of any. */
const usual = 100
const least = 20
const most = 1_000

/** How fast deployments write that may hide tokens, from the responses that were read to their end. */
export class Speeds {
  readonly #perSecond = new Averages(7)

  learn({ outcome, usageSource, usage, totalMs, firstByteMs, provider, providerModel }: Receipt): void {
    if (outcome !== 'completed' || usageSource !== 'reported' || firstByteMs === undefined) return
    if (usage.completion_tokens < 50 || totalMs <= 0) return
    const now = Math.min(most, Math.max(least, (usage.completion_tokens * 1_000) / totalMs))
    this.#perSecond.learn(`${provider} ${providerModel}`, now)
  }

  /** Tokens in a second. */
  of({ provider, model }: { readonly provider: { readonly name: string }; readonly model: string }): number {
    return this.#perSecond.of(`${provider.name} ${model}`) ?? usual
  }
}
