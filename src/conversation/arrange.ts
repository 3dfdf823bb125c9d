/**
 * The order that vendors require: the results of an assistant's calls directly after its turn, each once. A call without a
 * result gets one that says so; a result without a call becomes the user's words. Only writers arrange, so that records hold
 * what was really said. The same turns if nothing is amiss.
 */
import type { Block, CallBlock, ResultBlock, Turn } from './conversation.ts'

export function arranged(turns: readonly Turn[]): readonly Turn[] {
  return isInOrder(turns) ? turns : new Arranger().arrange(turns)
}

function isInOrder(turns: readonly Turn[]): boolean {
  let open = none
  for (const [index, { role, blocks }] of turns.entries()) {
    if (role === 'assistant') {
      if (open.size > 0 || turns[index - 1]?.role === 'assistant') return false
      const calls = blocks.filter((block) => block.kind === 'call')
      open = calls.length === 0 ? none : new Set(calls.map(({ id }) => id))
      if (open.size < calls.length) return false
      continue
    }
    let content = false
    for (const block of blocks) {
      if (block.kind !== 'result') content = true
      else if (content || !open.delete(block.callId)) return false
    }
    if (content && open.size > 0) return false
  }
  return open.size === 0
}

/** Nothing is ever added to it. */
const none = new Set<string>()

class Arranger {
  readonly #turns: Turn[] = []
  #open = new Map<string, CallBlock>()
  #results: Block[] = []
  #later: Turn[] = []
  /** The blocks of the last turn, if it consists of several. */
  #joined: Block[] | undefined

  arrange(turns: readonly Turn[]): Turn[] {
    for (const turn of turns) {
      if (turn.role === 'assistant') this.#answer(turn)
      else this.#say(turn)
    }
    this.#flush()
    return this.#turns
  }

  #answer(turn: Turn): void {
    const last = this.#turns.at(-1)
    if (last?.role === 'assistant' && this.#results.length === 0 && this.#later.length === 0) {
      const added = apart(last, turn)
      if (this.#joined === undefined) {
        this.#joined = [...last.blocks]
        this.#turns[this.#turns.length - 1] = { ...last, blocks: this.#joined }
      }
      for (const block of added) this.#joined.push(block)
    } else {
      this.#flush()
      this.#joined = undefined
      this.#turns.push(turn)
    }
    for (const call of turn.blocks.filter((block) => block.kind === 'call')) this.#open.set(call.id, call)
  }

  #say(turn: Turn): void {
    if (turn.blocks.every(({ kind }) => kind !== 'result')) {
      this.#later.push(turn)
      return
    }
    const rest: Block[] = []
    for (const block of turn.blocks) {
      if (block.kind !== 'result') rest.push(block)
      else if (this.#open.delete(block.callId)) this.#results.push(block)
      else rest.push({ kind: 'text', text: 'The result of an earlier tool call:' }, ...block.blocks)
    }
    if (rest.length > 0) this.#later.push({ ...turn, blocks: rest })
  }

  #flush(): void {
    for (const callId of this.#open.keys()) this.#results.push(missing(callId))
    this.#open = new Map()
    if (this.#results.length > 0) this.#turns.push({ role: 'user', blocks: this.#results })
    this.#results = []
    for (const turn of this.#later) this.#turns.push(turn)
    this.#later = []
  }
}

/** The blocks of a turn after another one, whose text must not run into its own. */
function apart(before: Turn, { blocks }: Turn): readonly Block[] {
  const [first, ...rest] = blocks
  if (before.blocks.at(-1)?.kind !== 'text' || first?.kind !== 'text') return blocks
  return [{ ...first, text: `\n\n${first.text}` }, ...rest]
}

function missing(callId: string): ResultBlock {
  return { kind: 'result', callId, blocks: [{ kind: 'text', text: 'The call was not carried out.' }], failed: true }
}
