/**
 * The demo model's moderations: searches for a few English words of each category, without regard to meaning, and ignores
 * images. "I hate mondays" counts as hate. Use it to try a client, not to protect people.
 */
import { invalid } from '../../errors.ts'
import {
  moderationCategories,
  type ModerationCategory,
  type ModerationList,
  type ModerationRequest,
  type ModerationResult,
} from '../../wire/moderations.ts'
import { breaks } from './breaks.ts'
import { readLength } from './tokens.ts'

const maxTexts = 1_000

/** The words of each category. A subcategory also requires a word of its parent. */
const words: Readonly<Record<ModerationCategory, string>> = {
  hate: 'hate hateful inferior subhuman vermin',
  'hate/threatening': 'deserve destroy die exterminate kill',
  harassment: 'disgusting idiot loser moron pathetic stupid worthless',
  'harassment/threatening': 'beat die hurt kill regret',
  illicit: 'cocaine counterfeit forge launder shoplift smuggle steal',
  'illicit/violent': 'bomb explosive gun knife poison weapon',
  'self-harm': 'anorexia overdose selfharm suicidal suicide',
  'self-harm/intent': 'going i me my want',
  'self-harm/instructions': 'how method steps way ways',
  sexual: 'erotic explicit naked nude porn sex sexual',
  'sexual/minors': 'child children kid minor teenager underage',
  violence: 'attack beat kill murder shoot stab torture',
  'violence/graphic': 'blood bloody corpse dismember gore intestines',
}

export async function moderate({ input }: ModerationRequest): Promise<ModerationList> {
  const texts = textsOf(input)
  if (texts.length > maxTexts) throw invalid(`"input" must have at most ${maxTexts} texts for this model.`, 'input')
  const results: ModerationResult[] = []
  const rest = breaks()
  for (const text of texts) {
    await rest(Math.min(text?.length ?? 0, readLength) + moderationCategories.length)
    results.push(resultOf(text?.slice(0, readLength)))
  }
  return { results }
}

/** Undefined for a multimodal input without text. */
function textsOf(input: ModerationRequest['input']): readonly (string | undefined)[] {
  if (typeof input === 'string') return [input]
  const parts = input.filter((each) => typeof each !== 'string')
  if (parts.length === 0) return input as readonly string[]
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return [texts.length === 0 ? undefined : texts.join('\n')]
}

function resultOf(text: string | undefined): ModerationResult {
  const said = new Set((text ?? '').toLowerCase().match(/\p{L}+/gu))
  const scores: Partial<Record<ModerationCategory, number>> = {}
  for (const name of moderationCategories) {
    const found = words[name].split(' ').filter((word) => said.has(word)).length
    const parent = name.replace(/\/.*/, '') as ModerationCategory
    // Approaches 1 with the number of words, and is never higher than that of the parent.
    scores[name] = Math.min(found === 0 ? 0 : 1 - 0.5 ** (found + 1), scores[parent] ?? 1)
  }
  return {
    flagged: moderationCategories.some((name) => (scores[name] ?? 0) >= 0.5),
    categories: byCategory((name) => (scores[name] ?? 0) >= 0.5),
    category_scores: scores,
    ...(text !== undefined && { category_applied_input_types: byCategory(() => ['text' as const]) }),
  }
}

function byCategory<Value>(value: (name: ModerationCategory) => Value): Partial<Record<ModerationCategory, Value>> {
  return Object.fromEntries(moderationCategories.map((name) => [name, value(name)]))
}
