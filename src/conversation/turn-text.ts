import type { Turn } from './conversation.ts'

/** What a turn says in words, without its media, reasoning, calls and results; empty if there is no turn. */
export function turnText(turn: Turn | undefined): string {
  let text = ''
  for (const block of turn?.blocks ?? [])
    if (block.kind === 'text') text += text === '' ? block.text : `\n${block.text}`
  return text
}
