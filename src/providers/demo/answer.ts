/** The rules of the demo model, tried in order: the first that returns a text gives the response. */
import { factsIn } from './facts.ts'
import type { Prompt } from './prompt.ts'

type Rule = (prompt: Prompt) => string | undefined

const rules: readonly Rule[] = [
  obey,
  sayValue,
  repeatResults,
  ({ question }) => quoted.exec(question)?.groups?.['what'] ?? saidIn(question),
  count,
  writeAtLength,
  recall,
  describe,
  takeNote,
  greet,
]

export function answerTo(prompt: Prompt): string {
  for (const rule of rules) {
    const answer = rule(prompt)
    if (answer !== undefined) return answer
  }
  const question = prompt.question.replace(/\s+/g, ' ').trim().slice(0, 200)
  return `You said${question === '' ? ' nothing.' : `: "${question}"`} I am the demo model and answer by a few plain rules.`
}

const verb = '(?:reply|respond|answer|say|repeat|output|return|print|give|tell|write)(?: back)?(?: to me| me)?'
const quoted = new RegExp(`\\b${verb}\\b[^"“\\n{[]{0,40}["“](?<what>[^"”]{1,2000})["”]`, 'i')
const rest = '(?: with)?(?: (?:the|this|one|single|word|words|text|phrase|number))*[:,]? ?\\n?(?<what>[^\\n]{1,2000})'
const exactly = new RegExp(
  `\\b(?:${verb}(?: with)?(?: exactly| only| just| after me|(?= the (?:single )?word))|echo\\b)${rest}`,
  'i',
)
/** Only at the start of a sentence, because a sentence with a condition applies to some questions only. */
const instructed = new RegExp(
  `(?:^|[.!?\\n]\\s*)(?:please |always |only |you must )*${verb}(?: with exactly| exactly)${rest}`,
  'i',
)
const valueOnly = new RegExp(
  `\\b${verb}(?: with)?(?: (?:only|just|exactly)(?: with)? (?:the|that|this|its|my) (?<name>[a-z][\\w -]{0,40}?)` +
    '| (?:the|that|this|its|my) (?<named>[a-z][\\w -]{0,40}?)(?: only| alone|(?=,? and nothing)))' +
    '(?:,? and nothing else)?(?=[.!?]?\\s*$|[.!?] )',
  'i',
)
const numeric = /\b(?:number|numeral|digits?|value|result|sum|total|amount|count|answer|temperature|price)$/i

/** What a text tells to say, without quotes and the words after it; undefined if that is nothing. */
function saidIn(text: string, form = exactly): string | undefined {
  const what = form.exec(text)?.groups?.['what']?.trim()
  const unquoted = what?.replace(/^['‘"“`](.*?)['’"”`].*$/, '$1')
  if (unquoted !== what) return unquoted || undefined
  return what?.replace(/[,.]? (?:and )?nothing else\b.*$/i, '').replace(/[.!?](?:\s.*)?$/, '') || undefined
}

/** Follows `Reply with exactly: pong` in the instructions, but not `Reply with exactly one sentence`. */
function obey({ instructions }: Prompt): string | undefined {
  const what = saidIn(instructions, instructed)
  return what !== undefined && /^(?:one|two|three|four|five|an?|\d+) [\w-]+$|^sentence/i.test(what) ? undefined : what
}

/** Follows `Reply with just the number.`: returns the latest value of that name from a tool or the user. */
function sayValue({ question, earlier, instructions, results }: Prompt): string | undefined {
  const { 0: order = '', groups } = valueOnly.exec(question) ?? {}
  if (groups === undefined) return undefined
  const name = (groups['name'] ?? groups['named'] ?? '').toLowerCase()
  const texts = [instructions, ...earlier, question.replace(order, ''), ...results.map(({ text }) => text)]
  const fact = factsIn(texts).get(name)
  if (fact !== undefined || !numeric.test(name)) return fact
  const numbers = texts.flatMap((text) => text.match(/-?\d+(?:[.,]\d+)*/g) ?? [])
  return numbers.at(-1)
}

/** After tool calls: the text that the user requested for this case, otherwise the results. */
function repeatResults({ question, results }: Prompt): string | undefined {
  if (results.length === 0) return undefined
  return saidIn(question) ?? results.map(({ tool, text }) => `${tool} says: ${text}`).join('\n')
}

/** Follows `Count from 1 to 5`. */
function count({ question }: Prompt): string | undefined {
  const [, first = 1, last] = /\bcount (?:from )?(?:(\d{1,4}) )?(?:up )?to (\d{1,4})\b/i.exec(question) ?? []
  if (last === undefined) return undefined
  return Array.from({ length: Math.max(Number(last) - Number(first) + 1, 0) }, (_, at) => Number(first) + at).join(', ')
}

const tale = (
  'Once a small model lived in a quiet server and answered every question by a plain rule. It knew few words and told ' +
  'them in order, and whoever asked again got the same tale.'
).split(' ')

/** Follows `Write a story of 300 words`. */
function writeAtLength({ question }: Prompt): string | undefined {
  const length = Number(/\b(\d{1,4})[ -]words?\b/i.exec(question)?.[1] ?? 0)
  return length < 20 ? undefined : Array.from({ length }, (_, at) => tale[at % tale.length]).join(' ')
}

/** Answers `What is my name?` from earlier messages, and `What did the tool say?` from earlier results. */
function recall({ question, earlier, instructions, earlierResults }: Prompt): string | undefined {
  if (!/\?|\b(?:what|which|who|recall|remember|remind|repeat|tell me)\b/i.test(question)) return undefined
  const words = ` ${question.toLowerCase().replace(/[^\p{L}\p{N}_-]+/gu, ' ')} `
  const facts = [...factsIn([instructions, ...earlier, question])].filter(([name]) => words.includes(` ${name} `))
  if (facts.length > 0) return facts.map(([name, value]) => `You told me: ${name} is ${value}.`).join(' ')
  if (earlierResults.length === 0 || !/\b(?:tools?|functions?|results?|outputs?)\b/i.test(question)) return undefined
  return earlierResults.map(({ tool, text }) => `${tool} said: ${text}`).join('\n')
}

const kinds = { image: 'an image', audio: 'a sound', file: 'a file' } as const

/** Names the kinds and types of the attachments: the model cannot read them. */
function describe({ attachments }: Prompt): string | undefined {
  if (attachments.length === 0) return undefined
  const parts = attachments.slice(0, 20).map(({ type, source }) => {
    const media = type === 'image' && 'mediaType' in source ? (source.mediaType ?? '') : ''
    return `${kinds[type]}${/^[\w.+-]+\/[\w.+-]+$/.test(media) ? ` (${media})` : ''}`
  })
  return `I received ${parts.join(', ')} with your message. I am the demo model and cannot look inside.`
}

/** Confirms `My name is Ada.` */
function takeNote({ question }: Prompt): string | undefined {
  const facts = [...factsIn([question])].map(([name, value]) => `${name} is ${value}`)
  return facts.length === 0 ? undefined : `Noted: ${facts.join(', ')}.`
}

function greet({ question }: Prompt): string | undefined {
  if (!/\b(?:hello|hi|hey|good (?:morning|evening))\b/i.test(question)) return undefined
  return 'Hello! I am the demo model. I answer by a few plain rules, without a key and without a network.'
}
