/** What chats cannot say as it is: custom tools, long names of tools, and reasoning that the client does not get. */
import type { Conversation } from '../../conversation/conversation.ts'
import { preparedWith, type Prepared, type Target } from '../format.ts'
import { unknownId } from '../media.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { hideReasoning } from '../stages/hide.ts'
import { longNames } from '../tools.ts'
import { withText } from './states.ts'
import type { ChatTraits } from './traits.ts'

/** Throws 400 for a file by its id, which is that of the vendor whose wire the client speaks. */
export function prepare(asked: Conversation, to: Target<ChatTraits>): Prepared {
  for (const { blocks } of asked.turns)
    for (const block of blocks)
      if (block.kind === 'media' && 'id' in block.source) throw unknownId(block.place ?? 'messages')
  const { conversation, stage } = withFunctionsForCustomTools(asked)
  const names = longNames(conversation)
  const hidden = to.shown === 'hidden' ? () => hideReasoning(withText) : undefined
  return preparedWith(conversation, [names && (() => names), stage, hidden])
}
