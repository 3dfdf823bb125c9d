/** What chats cannot say as it is: custom tools, long names of tools, and reasoning that the client does not get. */
import { GatewayError } from '../../errors.ts'
import type { Conversation, MediaBlock } from '../../conversation/conversation.ts'
import type { Prepared, Target } from '../format.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { hideReasoning } from '../stages/hide.ts'
import { longNames } from '../stages/names.ts'
import type { Stage } from '../stages/stage.ts'
import { withText } from './states.ts'
import type { ChatTraits } from './traits.ts'

/** Throws 400 for a file by its id, which is that of the vendor whose wire the client speaks. */
export function prepare(asked: Conversation, to: Target<ChatTraits>): Prepared {
  for (const { blocks } of asked.turns) for (const block of blocks) if (block.kind === 'media') refuseId(block)
  const { conversation, stage } = withFunctionsForCustomTools(asked)
  return { conversation, stages: stagesFor(longNames(conversation), to.shown === 'hidden', stage) }
}

function refuseId({ source, place = 'messages' }: MediaBlock): void {
  if (!('id' in source)) return
  const message = `This model does not support "${place}" by id. Send the data as base64.`
  throw new GatewayError('unsupported_value', { param: place, message })
}

/** Made here, so that they do not hold the conversation. */
function stagesFor(
  names: Stage | undefined,
  isHidden: boolean,
  customs: (() => Stage) | undefined,
): Prepared['stages'] {
  return () => {
    const stages = names === undefined ? [] : [names]
    if (customs !== undefined) stages.push(customs())
    if (isHidden) stages.push(hideReasoning(withText))
    return stages
  }
}
