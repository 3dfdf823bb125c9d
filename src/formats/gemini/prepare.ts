/** What this wire, and some of its models, cannot say as it is. */
import { refuseChatOnly } from '../chat-only.ts'
import type { Conversation, Fields } from '../../conversation/conversation.ts'
import { unsupported, unsupportedValue } from '../../providers/unsupported.ts'
import { fieldsOf, itemsOf } from '../../wire/json.ts'
import { clientName } from '../field-names.ts'
import { preparedWith, type Prepared, type Target } from '../format.ts'
import { withJsonInstruction } from '../instead.ts'
import { answerTool, withAnswerTool } from '../stages/answer-tool.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { firstCall } from '../stages/first-call.ts'
import type { Stage } from '../stages/stage.ts'
import { isForced, renamedCalls } from '../tools.ts'
import { functionNames } from './request-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

/** The most stop sequences that the vendor takes. */
const maxStops = 5

export function prepare(asked: Conversation, to: Target<ContentTraits>): Prepared {
  const { traits } = to
  refuse(asked, to)
  const { conversation: made, stage: customs } = withFunctionsForCustomTools(asked)
  const { output, tools, toolChoice, settings, parallel } = made
  const said = { ...made, settings: { ...settings, stops: settings.stops?.slice(0, maxStops) } }
  const hasFunctions = tools.some(({ kind }) => kind === 'function')
  // Older models reject a response format together with tools; newer ones only if a call is forced.
  const excludes =
    hasFunctions && (traits.schemaBesideTools === false || (isForced(toolChoice) && traits.schemaBesideTools === true))
  const single = [customs, parallel === false ? firstCall : undefined]
  if (!excludes || output === undefined) return withNames(said, single)
  if (output.kind === 'json') {
    const { output: _, ...rest } = said
    return withNames({ ...rest, turns: withJsonInstruction(said.turns) }, single)
  }
  const { conversation, name } = withAnswerTool(said, output, true)
  return withNames(conversation, [() => answerTool(name), ...single])
}

/** Throws 400 for what changes the answer and cannot be said. */
function refuse(asked: Conversation, to: Target<ContentTraits>): void {
  const { settings } = asked
  const { dropParams = [] } = to.traits
  const call = { publicModel: to.model }
  const { verbosity, modalities = [] } = settings
  if (verbosity !== undefined && verbosity !== 'medium' && !dropParams.includes('verbosity'))
    throw unsupported(call, clientName(to, 'verbosity'))
  if (modalities.length > 1 && modalities.includes('audio') && !dropParams.includes('modalities'))
    throw unsupportedValue(call, clientName(to, 'modalities'), 'it may contain only "text" and "image".')
  refuseChatOnly(asked, to.model, dropParams)
}

/** The names of functions are turned back to those that the client knows. */
function withNames(conversation: Conversation, stages: readonly ((() => Stage) | undefined)[]): Prepared {
  const names = functionNames(conversation)
  const original = names.areChanged ? () => renamedCalls((name) => names.toClient(name)) : undefined
  return preparedWith(conversation, [original, ...stages])
}

/** The stop sequences in a written request. */
export function stopsIn({ generationConfig: config }: Fields): readonly string[] {
  return itemsOf(fieldsOf(config)['stopSequences']) as readonly string[]
}
