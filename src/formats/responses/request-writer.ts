import type { Conversation, Fields } from '../../conversation/conversation.ts'
import { itemsOf } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { logprobsField } from './field-names.ts'
import { ItemWriter } from './item-writer.ts'
import { writeOutput, writeSettings } from './settings.ts'
import { writeTools } from './tools.ts'
import type { ResponsesTraits } from './traits.ts'

/** Writes the body of `POST /v1/responses`. */
export function writeRequest(conversation: Conversation, to: Target<ResponsesTraits>): Fields {
  const { turns, output, settings, own } = conversation
  const { instructions, input } = new ItemWriter(to).write(turns)
  const { text, reasoning, include, ...more } = own?.responses ?? {}
  const body: Record<string, unknown> = { model: to.model, input }
  if (instructions !== undefined) body['instructions'] = instructions
  const { reasoning: written, ...rest } = writeSettings(settings, to)
  Object.assign(body, rest, writeTools(conversation, to.omit))
  const wanted = [...itemsOf(include)]
  if (settings.logprobs !== undefined) wanted.push(logprobsField)
  if (to.traits.stateless === true) {
    body['store'] = false
    wanted.push('reasoning.encrypted_content')
  }
  if (wanted.length > 0) body['include'] = wanted
  const format = writeOutput(output)
  const { verbosity } = settings
  if (format !== undefined || text !== undefined || verbosity !== undefined)
    body['text'] = { ...format, verbosity, ...(text as Fields | undefined) }
  if (written !== undefined || reasoning !== undefined)
    body['reasoning'] = { ...(written as Fields | undefined), ...(reasoning as Fields | undefined) }
  return Object.assign(body, more)
}
