/** What a vendor has signed goes back to it unchanged, or without its signature. */
import type { Block, Conversation, State } from '../conversation/conversation.ts'

/** The changed conversation, without the state of blocks that have changed. `reversible`: that of reasoning alone. */
export function withoutBrokenState(before: Conversation, after: Conversation, reversible: boolean): Conversation {
  const signed = new Map<string, Block>()
  for (const { blocks } of before.turns)
    for (const block of blocks) if (block.state !== undefined) signed.set(keyOf(block.state), block)
  if (signed.size === 0) return after
  const isBroken = (block: Block) => {
    if (block.state === undefined || (reversible && block.kind !== 'reasoning')) return false
    const own = signed.get(keyOf(block.state))
    return own !== block && JSON.stringify(own) !== JSON.stringify(block)
  }
  return {
    ...after,
    turns: after.turns.map((turn) =>
      turn.blocks.some(isBroken)
        ? { ...turn, blocks: turn.blocks.map((block) => (isBroken(block) ? withoutState(block) : block)) }
        : turn,
    ),
  }
}

function keyOf({ maker, data }: State): string {
  return `${maker} ${data}`
}

function withoutState(block: Block): Block {
  const { state: _, ...rest } = block
  return rest
}
