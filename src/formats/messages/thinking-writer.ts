/** Writes what a request asks of the model's thinking. */
import type { Conversation, Effort, Fields, Reasoning } from '../../conversation/conversation.ts'
import type { ClaudeTraits, MessageTraits } from '../../providers/message-traits.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { isRecord } from '../../wire/json.ts'
import { clientName } from '../field-names.ts'
import type { Target } from '../format.ts'
import { effortForBudget } from '../reasoning.ts'
import { isForced } from '../tools.ts'
import { displays, modes } from './setting-reader.ts'

/** `thinking`, and `effort` for `output_config`. `limit`: of the answer's tokens. `messages`: as they are written. */
export function writeThinking(
  conversation: Conversation,
  to: Target<MessageTraits>,
  limit: number,
  messages: readonly Fields[],
): ThinkingFields {
  const { settings, own } = conversation
  const { claude } = to.traits
  const { reasoning } = settings
  if (claude === undefined) return reasoning === undefined ? {} : asItIs(reasoning)
  // The vendor's own field, which clients of chats may send.
  const given = own?.chat?.['thinking']
  if (isRecord(given)) return given['type'] === 'enabled' && lacksThinking(messages) ? {} : { thinking: given }
  return reasoning === undefined ? {} : forClaude(reasoning, claude, conversation, to, limit, messages)
}

function asItIs({ mode, effort, budget, show }: Reasoning): ThinkingFields {
  const thinking = mode && { type: modes[mode], budget_tokens: budget, display: show && displays[show] }
  return { thinking, effort }
}

/**
 * Thinking is not possible with a forced call, or when the model continues an answer. With a budget, a turn with calls must
 * also start with its thinking; without it, as for another vendor's turn, thinking must be off.
 */
function forClaude(
  reasoning: Reasoning,
  claude: ClaudeTraits,
  { toolChoice }: Conversation,
  to: Target<MessageTraits>,
  limit: number,
  messages: readonly Fields[],
): ThinkingFields {
  const effort = effortOf(reasoning)
  if (effort === undefined) return {}
  const fields = thinkingFor(effort, claude, limit)
  const name = clientName(to, 'reasoning')
  if (fields === undefined)
    throw unsupportedValue({ publicModel: to.model }, name, 'it has no reasoning; omit the field.')
  if (effort === 'none') return fields
  const isCalling = isForced(toolChoice)
  const isContinued = messages.at(-1)?.['role'] === 'assistant'
  if (isCalling || isContinued || (claude.thinking === 'budget' && lacksThinking(messages))) {
    to.omit(name, isCalling ? 'a call is forced' : 'the answer to continue has no thinking')
    return { effort: fields.effort }
  }
  // The vendor has ignored so small a limit.
  if (fields.thinking === undefined && fields.effort === undefined) to.omit(name, 'the limit of tokens is too low')
  return fields
}

function effortOf({ mode, effort, budget }: Reasoning): Effort | 'none' | undefined {
  if (mode === 'off') return 'none'
  if (effort !== undefined) return effort
  if (budget !== undefined) return effortForBudget(budget)
  return mode === undefined ? undefined : 'medium'
}

/** Whether the model is to continue calls that do not begin with thinking. */
function lacksThinking(messages: readonly Fields[]): boolean {
  const [before, last] = messages.slice(-2).map(({ content }) => content as readonly Fields[])
  if (last?.some(({ type }) => type === 'tool_result') !== true) return false
  const type = before?.[0]?.['type']
  return type !== 'thinking' && type !== 'redacted_thinking'
}

/** Fields of the request: `thinking`, and `effort` for `output_config`. */
interface ThinkingFields {
  readonly thinking?: Readonly<Record<string, unknown>> | undefined
  readonly effort?: string | undefined
}

/** The thinking budget as a fraction of the output limit. */
const parts = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.95 }
const leastBudget = 1_024

/** Undefined if the model has no reasoning. */
function thinkingFor(effort: Effort | 'none', traits: ClaudeTraits, maxTokens: number): ThinkingFields | undefined {
  if (effort === 'none') {
    if (traits.leastThinking === 'low') return { effort: 'low' }
    return traits.thinking === 'none' ? {} : { thinking: { type: traits.leastThinking } }
  }
  if (traits.thinking === 'none') return undefined
  if (traits.thinking === 'adapts') {
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: acceptedEffort(effort, traits) }
  }
  // The budget counts toward the output limit and has a minimum, so a small limit leaves none.
  if (maxTokens <= leastBudget) return {}
  const budget = Math.max(leastBudget, Math.round(maxTokens * parts[effort]))
  return { thinking: { type: 'enabled', budget_tokens: Math.min(budget, maxTokens - 1) } }
}

function acceptedEffort(effort: Effort, { efforts }: ClaudeTraits): string {
  if (effort === 'minimal') return 'low'
  if (effort === 'xhigh') return efforts.includes('xhigh') ? 'xhigh' : (efforts[0] ?? 'high')
  if (effort === 'max') return efforts.includes('max') ? 'max' : 'high'
  return effort
}
