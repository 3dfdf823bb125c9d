/** What the rules of the demo model need of a conversation. All of it is bounded, because they search it. */
import type { Block, Conversation, MediaBlock, Turn } from '../../conversation/conversation.ts'
import { readLength } from './tokens.ts'

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

interface ToolResult {
  readonly tool: string
  readonly text: string
}

/** Characters read of all instructions, and of all earlier turns; the number of turns. */
const [instructionsLength, earlierLength, maxTurns] = [16_000, 100_000, 100]

export function promptOf({ turns }: Conversation): Prompt {
  const last = turns.findLastIndex(isQuestion)
  const before = turns.slice(0, Math.max(last, 0)).slice(-maxTurns)
  const since = turns.slice(last + 1)
  const blocks = turns[last]?.blocks ?? []
  const earlierResults = resultsIn([
    ...before,
    { role: 'user', blocks: blocks.filter(({ kind }) => kind === 'result') },
  ])
  const said = (role: Turn['role'], among: readonly Turn[]) =>
    among.filter((turn) => turn.role === role).map((turn) => textOf(turn.blocks))
  return {
    question: textOf(blocks),
    earlier: latest([...said('user', before), ...earlierResults.map(({ text }) => text)], earlierLength),
    instructions: latest(said('system', turns), instructionsLength).join('\n'),
    attachments: blocks.filter((block) => block.kind === 'media'),
    results: resultsIn(since),
    earlierResults,
    called: new Set(namesIn(since).values()),
  }
}

function isQuestion({ role, blocks }: Turn): boolean {
  return role === 'user' && blocks.some(({ kind }) => kind !== 'result')
}

/** The latest texts that fit into `length` characters. */
function latest(texts: readonly string[], length: number): string[] {
  let left = length
  const fits = (text: string) => text !== '' && (left -= text.length) >= 0
  return texts.slice(-maxTurns).toReversed().filter(fits).toReversed()
}

function textOf(blocks: readonly Block[]): string {
  const texts = blocks.flatMap((block) => (block.kind === 'text' && block.text !== '' ? [block.text] : []))
  return texts
    .slice(0, readLength)
    .map((text) => text.slice(0, readLength))
    .join('\n')
    .slice(0, readLength)
}

function resultsIn(turns: readonly Turn[]): ToolResult[] {
  const names = namesIn(turns)
  const results = turns.flatMap(({ blocks }) => blocks.filter((block) => block.kind === 'result')).slice(-maxTurns)
  return results.map(({ callId, blocks }) => ({ tool: names.get(callId) ?? 'The tool', text: textOf(blocks) }))
}

/** The names of the called tools, keyed by call. */
function namesIn(turns: readonly Turn[]): Map<string, string> {
  const calls = turns.flatMap(({ blocks }) => blocks.filter((block) => block.kind === 'call'))
  return new Map(calls.map(({ id, name }) => [id, name]))
}
