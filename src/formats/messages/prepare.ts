/** What Messages, and the models of Claude, cannot say as it is. */
import { refuseChatOnly, refuseSettings, type Unsaid } from '../chat-only.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { StrictBudget } from './strictness.ts'
import type { MessageTraits } from '../../providers/message-traits.ts'
import { unsupported, unsupportedValue } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import { preparedWith, type Prepared, type Target } from '../format.ts'
import { withJsonInstruction } from '../instead.ts'
import { answerTool, withAnswerTool } from '../stages/answer-tool.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { isForced } from '../tools.ts'

const unsaid: readonly Unsaid[] = [
  ['choices', 'n', 1],
  ['logprobs', 'logprobs', undefined],
  ['seed', 'seed', undefined],
  ['frequencyPenalty', 'frequency_penalty', 0],
  ['presencePenalty', 'presence_penalty', 0],
  ['verbosity', 'verbosity', 'medium'],
]

/** Throws 400 for what changes the answer and cannot be said. */
export function prepare(asked: Conversation, to: Target<MessageTraits>): Prepared {
  refuse(asked, to)
  const { conversation: made, stage } = withFunctionsForCustomTools(asked)
  const { output, settings } = made
  const { claude } = to.traits
  const { reasoning } = settings
  if (output?.kind === 'json') return preparedWith({ ...made, turns: withJsonInstruction(made.turns) }, [stage])
  if (output === undefined || claude === undefined || (claude.schemas && new StrictBudget().take(output.schema)))
    return preparedWith(made, [stage])
  // A call cannot be forced while the model reasons.
  const mayForce = claude.forcedTools && (reasoning === undefined || reasoning.mode === 'off')
  const { conversation, name } = withAnswerTool(made, output, mayForce)
  return preparedWith(conversation, [() => answerTool(name), stage])
}

function refuse(asked: Conversation, to: Target<MessageTraits>): void {
  const { settings, toolChoice } = asked
  const { claude, dropParams = [] } = to.traits
  const call = { publicModel: to.model }
  refuseSettings(asked, to, unsaid)
  const makesMedia = settings.modalities?.some((each) => each !== 'text') === true
  if (makesMedia && !dropParams.includes('modalities')) throw unsupported(call, clientName(to, 'modalities'))
  refuseChatOnly(asked, to.model, dropParams)
  if (settings.stops?.some((stop) => stop.trim() === '') === true) {
    const why = 'each sequence must have a character other than white space.'
    throw unsupportedValue(call, clientName(to, 'stops'), why)
  }
  if (claude?.forcedTools === false && isForced(toolChoice))
    throw unsupportedValue(call, clientName(to, 'toolChoice'), 'it must be "auto" or "none".')
}
