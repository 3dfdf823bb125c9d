/**
 * The demo model's moderations: searches for a few English words of each category, without regard to meaning, and ignores
 * images. "I hate mondays" counts as hate. Use it to try a client, not to protect people.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { invalid } from '../../errors.ts'
import {
  moderationCategories,
  type ModerationCategory,
  type ModerationList,
  type ModerationRequest,
  type ModerationResult,
} from '../../wire/moderations.ts'

/** Characters that are read of a text, and texts of a request. */
const [readLength, maxTexts] = [8_000, 1_000]
/** Characters processed in one turn of the event loop. */
const lengthPerTurn = 32_000

/** The words of each category. A subcategory also requires a word of its parent. */
const words: Readonly<Record<ModerationCategory, readonly string[]>> = {
  hate: ['hate', 'hateful', 'inferior', 'subhuman', 'vermin'],
  'hate/threatening': ['deserve', 'destroy', 'die', 'exterminate', 'kill'],
  harassment: ['disgusting', 'idiot', 'loser', 'moron', 'pathetic', 'stupid', 'worthless'],
  'harassment/threatening': ['beat', 'die', 'hurt', 'kill', 'regret'],
  illicit: ['cocaine', 'counterfeit', 'forge', 'launder', 'shoplift', 'smuggle', 'steal'],
  'illicit/violent': ['bomb', 'explosive', 'gun', 'knife', 'poison', 'weapon'],
  'self-harm': ['anorexia', 'overdose', 'selfharm', 'suicidal', 'suicide'],
  'self-harm/intent': ['going', 'i', 'me', 'my', 'want'],
  'self-harm/instructions': ['how', 'method', 'steps', 'way', 'ways'],
  sexual: ['erotic', 'explicit', 'naked', 'nude', 'porn', 'sex', 'sexual'],
  'sexual/minors': ['child', 'children', 'kid', 'minor', 'teenager', 'underage'],
  violence: ['attack', 'beat', 'kill', 'murder', 'shoot', 'stab', 'torture'],
  'violence/graphic': ['blood', 'bloody', 'corpse', 'dismember', 'gore', 'intestines'],
}

const lists = moderationCategories.map((name) => ({ name, parent: parentOf(name), words: words[name] }))

export async function moderate({ input }: ModerationRequest): Promise<ModerationList> {
  const texts = textsOf(input)
  if (texts.length > maxTexts) {
    throw invalid(`"input" must have at most ${maxTexts} texts for this model.`, 'input')
  }
  const results: ModerationResult[] = []
  let read = 0
  for (const text of texts) {
    if (read > lengthPerTurn) {
      read = 0
      await breathe()
    }
    const known = text?.slice(0, readLength)
    read += (known?.length ?? 0) + moderationCategories.length
    results.push(resultOf(known))
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
  const wordsIn = new Set((text ?? '').toLowerCase().match(/\p{L}+/gu))
  const scores = new Map<ModerationCategory, number>()
  for (const { name, parent, words } of lists) {
    const found = words.filter((word) => wordsIn.has(word)).length
    // A subcategory never scores higher than its parent.
    scores.set(name, Math.min(scoreOf(found), parent === undefined ? 1 : (scores.get(parent) ?? 0)))
  }
  const categories = [...scores].map(([name, score]) => [name, score >= 0.5] as const)
  return {
    flagged: categories.some(([, flagged]) => flagged),
    categories: Object.fromEntries(categories),
    category_scores: Object.fromEntries(scores),
    ...(text !== undefined && {
      category_applied_input_types: Object.fromEntries(moderationCategories.map((name) => [name, ['text']])),
    }),
  }
}

/** The score approaches 1 with the number of words. */
function scoreOf(found: number): number {
  return found === 0 ? 0 : 1 - 0.5 ** (found + 1)
}

/** The parent of a subcategory, such as `hate` for `hate/threatening`. */
function parentOf(name: ModerationCategory): ModerationCategory | undefined {
  const [parent, subcategory] = name.split('/')
  return subcategory === undefined ? undefined : (parent as ModerationCategory)
}
