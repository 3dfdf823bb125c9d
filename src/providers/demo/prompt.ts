/** What the rules of the demo model need of a conversation. All of it is bounded, because they search it. */
import type { Block, Conversation, MediaBlock, Turn } from '../../conversation/conversation.ts'

export interface Prompt {
  /** The last words of the user. */
  readonly question: string
  /** Earlier words of the user, and earlier results of tools, oldest first. */
  readonly earlier: readonly string[]
  readonly instructions: string
  /** The images, audio and files with the question. */
  readonly attachments: readonly MediaBlock[]
  /** The results of tools after the question. */
  readonly results: readonly ToolResult[]
  readonly earlierResults: readonly ToolResult[]
  /** The tools called after the question. */
  readonly called: ReadonlySet<string>
}

export interface ToolResult {
  readonly tool: string
  readonly text: string
}

/** Characters read of one turn or result, of all instructions, and of all earlier turns; the number of turns. */
const [turnLength, instructionsLength, earlierLength, maxTurns] = [8_000, 16_000, 100_000, 100]

export function promptOf({ turns }: Conversation): Prompt {
  const last = turns.findLastIndex(
    ({ role, blocks }) => role === 'user' && blocks.some(({ kind }) => kind !== 'result'),
  )
  const before = turns.slice(0, Math.max(last, 0)).slice(-maxTurns)
  const since = turns.slice(last + 1)
  const blocks = turns[last]?.blocks ?? []
  const inQuestion = { role: 'user', blocks: blocks.filter(({ kind }) => kind === 'result') } as const
  const earlierResults = resultsIn([...before, inQuestion])
  const users = before.filter(({ role }) => role === 'user')
  const said = users.map((turn) => textOf(turn.blocks)).filter((text) => text !== '')
  const instructions = turns.filter(({ role }) => role === 'system').map((turn) => textOf(turn.blocks))
  return {
    question: textOf(blocks),
    earlier: latest([...said, ...earlierResults.map(({ text }) => text)], earlierLength),
    instructions: latest(instructions, instructionsLength).join('\n'),
    attachments: blocks.filter((block) => block.kind === 'media'),
    results: resultsIn(since),
    earlierResults,
    called: new Set(since.flatMap((turn) => callsIn(turn).map(([, name]) => name))),
  }
}

/** The latest texts that fit into `length` characters. */
function latest(texts: readonly string[], length: number): string[] {
  let left = length
  return texts
    .slice(-maxTurns)
    .toReversed()
    .filter((text) => (left -= text.length) >= 0)
    .toReversed()
}

function textOf(blocks: readonly Block[]): string {
  let text = ''
  for (const block of blocks) {
    if (block.kind !== 'text' || block.text === '' || text.length >= turnLength) continue
    text += `${text === '' ? '' : '\n'}${block.text.slice(0, turnLength)}`
  }
  return text.slice(0, turnLength)
}

function resultsIn(turns: readonly Turn[]): ToolResult[] {
  const names = new Map(turns.flatMap(callsIn))
  const results = turns.flatMap(({ blocks }) => blocks.filter((block) => block.kind === 'result')).slice(-maxTurns)
  return results.map(({ callId, blocks }) => ({ tool: names.get(callId) ?? 'The tool', text: textOf(blocks) }))
}

function callsIn({ blocks }: Turn): [id: string, name: string][] {
  return blocks.flatMap((block): [string, string][] => (block.kind === 'call' ? [[block.id, block.name]] : []))
}
