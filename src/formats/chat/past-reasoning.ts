/** The reasoning of earlier turns: what its vendor wants back, and what others accept of it. */
import { bareMaker } from '../envelope.ts'
import { append, type StateReader } from '../model-state.ts'
import { toolId } from '../messages/tool-id.ts'
import type { Block, Fields, ReasoningBlock } from '../../conversation/conversation.ts'
import type { Target } from '../format.ts'
import { detailsOf, saidIn } from './details.ts'
import type { ChatTraits } from './traits.ts'

/** Fields of a message and of its calls, by the id of the call as clients of Messages know it. */
export interface PastFields {
  readonly message: Fields
  readonly calls: ReadonlyMap<string, Fields>
}

const none: PastFields = { message: {}, calls: new Map() }

/** The fields for a turn. `hasCalls`: vendors expect reasoning back only where tools are used. */
export function pastFields(
  blocks: readonly Block[],
  to: Target<ChatTraits>,
  reader: StateReader,
  hasCalls: boolean,
): PastFields {
  if (!blocks.some(({ kind, state }) => kind === 'reasoning' || state !== undefined)) return none
  const { maker, traits } = to
  const message: Record<string, unknown> = {}
  const calls = new Map<string, Fields>()
  const signed: Block[] = []
  for (const block of blocks) {
    const { state } = block
    const own = state?.maker === maker ? reader.unpack(state.data) : undefined
    if (own !== undefined) {
      const { reasoning_content: standard, reasoning, ...fields } = own.message ?? {}
      append(message, fields)
      if (block.kind === 'reasoning') {
        const name = standard === undefined && reasoning !== undefined ? 'reasoning' : 'reasoning_content'
        append(message, { [name]: standard || reasoning || block.text })
      }
      for (const [id, more] of Object.entries(own.calls ?? {})) calls.set(toolId(id), more)
    } else if (state?.maker === maker && maker === bareMaker) signed.push(block)
    else if (block.kind === 'reasoning') addForeign(message, block, to)
  }
  if (traits.details === true) signed.push(...blocks)
  const details = detailsOf(saidIn(signed))
  if (details.length > 0) append(message, { reasoning_details: details })
  if (!hasCalls && traits.details !== true) {
    delete message['reasoning_content']
    delete message['reasoning']
  }
  return { message, calls }
}

function addForeign(
  message: Record<string, unknown>,
  { text, state, own, place }: ReasoningBlock,
  to: Target<ChatTraits>,
) {
  const { reasoning, details } = to.traits
  if (details === true) {
    // What has state is among the details.
    if (state === undefined)
      append(message, { [own?.chat?.['as'] === 'reasoning' ? 'reasoning' : 'reasoning_content']: text })
  } else if (reasoning === true && text !== '') append(message, { reasoning_content: text })
  else to.omit(place ?? 'messages', 'reasoning of another vendor')
}
