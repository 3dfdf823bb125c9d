/** What this wire, and some of its models, cannot say as it is. */
import { refuseChatOnly } from '../chat-only.ts'
import type { Conversation, Fields } from '../../conversation/conversation.ts'
import type { FunctionNames } from './names.ts'
import { unsupported, unsupportedValue } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import type { Prepared, Target } from '../format.ts'
import { withJsonInstruction } from '../json-instruction.ts'
import { answerTool, withAnswerTool } from '../stages/answer-tool.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { firstCall } from '../stages/first-call.ts'
import { stage, type Stage } from '../stages/stage.ts'
import { functionNames } from './request-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

/** The most stop sequences that the vendor takes. */
const maxStops = 5

export function prepare(asked: Conversation, to: Target<ContentTraits>): Prepared {
  const { traits } = to
  refuse(asked, to)
  const { conversation: made, stage: customs } = withFunctionsForCustomTools(asked)
  const { output, tools, toolChoice, settings, parallel } = made
  const said =
    settings.stops === undefined
      ? made
      : { ...made, settings: { ...settings, stops: settings.stops.slice(0, maxStops) } }
  const hasFunctions = tools.some(({ kind }) => kind === 'function')
  const isForced = toolChoice === 'any' || typeof toolChoice === 'object'
  // Older models reject a response format together with tools; newer ones only if a call is forced.
  const excludes =
    hasFunctions && (traits.schemaBesideTools === false || (isForced && traits.schemaBesideTools === true))
  const single = [...(customs === undefined ? [] : [customs]), ...(parallel === false ? [firstCall] : [])]
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

function withNames(conversation: Conversation, stages: readonly (() => Stage)[]): Prepared {
  const names = functionNames(conversation)
  const all = names.areChanged ? [() => originalNames(names), ...stages] : stages
  return { conversation, stages: () => all.map((make) => make()) }
}

/** The names of functions as the client knows them. */
function originalNames(names: FunctionNames): Stage {
  return stage('call', (part) => [part.kind === 'call' ? { ...part, name: names.toClient(part.name) } : part])
}

/** The stop sequences in a written request. */
export function stopsIn({ generationConfig: config }: Fields): readonly string[] {
  const { stopSequences: stops } = Object(config) as { readonly stopSequences?: unknown }
  return Array.isArray(stops) ? (stops as string[]) : []
}
