/** Legacy text completions as conversations. */
import type { Conversation } from '../../conversation/conversation.ts'
import type { Answer, End } from '../../conversation/parts.ts'
import { text } from '../../formats/chat/text.ts'
import { entryIn, fieldsOf, itemsOf, textOf, type Fields } from '../../wire/json.ts'

/** Each prompt is a turn. Throws for prompts of tokens, which are no texts. */
export function readCompletionRequest(body: Fields): Conversation {
  const { prompt } = body
  const prompts = Array.isArray(prompt) ? (prompt as unknown[]) : [prompt ?? '']
  if (!prompts.every((each) => typeof each === 'string')) throw new TypeError('a prompt is no text')
  const turns = prompts.map((each) => ({ role: 'user', blocks: [{ kind: 'text', text: each }] }) as const)
  return { ...text.readRequest({ ...body, prompt: '' }), turns }
}

/** Beyond any that the gateway serves. */
const mostChoices = 1_024
const reasons: Readonly<Record<string, End>> = { length: { reason: 'length' }, content_filter: { reason: 'filter' } }

/** Of a whole answer, or of the events of one. */
export function readCompletion(pieces: readonly unknown[]): Answer {
  const choices: { text: string; end?: End }[] = []
  for (const choice of pieces.flatMap((piece) => itemsOf(fieldsOf(piece)['choices']).map(fieldsOf))) {
    const { index = 0, finish_reason: finish } = choice
    while (choices.length <= Number(index) && choices.length < mostChoices) choices.push({ text: '' })
    const known = choices[Number(index)]
    if (known === undefined) continue
    known.text += textOf(choice['text'])
    if (typeof finish === 'string') known.end = entryIn(reasons, finish) ?? { reason: 'stop' }
  }
  return { choices: choices.map(({ text: said, ...end }) => ({ blocks: [{ kind: 'text', text: said }], ...end })) }
}
