/** Rules for chat streams that a schema cannot express; for each of them some client fails if it is broken. */

export interface Chunk {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null
  readonly choices: readonly {
    readonly index: number
    readonly finish_reason: string | null
    readonly delta: { readonly role?: string; readonly tool_calls?: readonly CallDelta[] }
  }[]
}

interface CallDelta {
  readonly index: number
  readonly id?: unknown
  readonly type?: unknown
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown }
}

/** The faults of a stream. `last`: the data of the last frame. */
export function streamFaults(chunks: readonly Chunk[], last: string): string[] {
  const found: string[] = []
  const first = chunks[0]
  const finished = new Set<number>()
  const begun = new Set<number>()
  const calls = new Map<string, number>()
  for (const [at, chunk] of chunks.entries()) {
    const place = `chunk ${at}`
    if (chunk.id !== first?.id || chunk.created !== first.created || chunk.model !== first.model) {
      found.push(`${place} has another identity than the first`)
    }
    if (chunk.usage && (chunk.choices.length > 0 || at < chunks.length - 1))
      found.push(`${place}: usage not at the end`)
    if (chunk.usage && chunk.usage.total_tokens !== chunk.usage.prompt_tokens + chunk.usage.completion_tokens) {
      found.push(`${place}: the total is not the sum`)
    }
    if (chunk.choices.length === 0 && !chunk.usage) found.push(`${place} has neither choice nor usage`)
    for (const { index, delta, finish_reason: reason } of chunk.choices) {
      if (finished.has(index)) found.push(`${place}: choice ${index} goes on after its end`)
      if (!begun.has(index) && delta.role !== 'assistant') found.push(`${place}: choice ${index} begins without a role`)
      begun.add(index)
      if (reason !== null) finished.add(index)
      if (reason !== null && Object.keys(delta).length > 0) found.push(`${place}: content and finish in one`)
      for (const call of delta.tool_calls ?? []) found.push(...callFaults(call, index, calls, place))
    }
  }
  if (last !== '[DONE]') return JSON.parse(last).error === undefined ? [...found, 'no [DONE], and no error'] : found
  for (const index of begun) if (!finished.has(index)) found.push(`choice ${index} never ends`)
  return found
}

/** The first piece of a call has its name, the others only arguments; calls are numbered without gaps. */
function callFaults(call: CallDelta, choice: number, calls: Map<string, number>, place: string): string[] {
  const key = `${choice}/${call.index}`
  const seen = calls.get(key) ?? 0
  calls.set(key, seen + 1)
  if (typeof call.function?.arguments !== 'string') return [`${place}: arguments that are no text`]
  if (seen > 0) return 'id' in call || 'type' in call || 'name' in call.function ? [`${place}: named twice`] : []
  if (call.index > 0 && !calls.has(`${choice}/${call.index - 1}`)) return [`${place}: a gap between calls`]
  const named = typeof call.id === 'string' && call.id !== '' && call.type === 'function'
  return named && typeof call.function.name === 'string' ? [] : [`${place}: a call without id, type or name`]
}
