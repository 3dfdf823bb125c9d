/** The rules of the demo model, tried in order: the first that returns a text gives the response. */
import { factsAskedFor, factsIn } from './facts.ts'
import type { Prompt } from './prompt.ts'

type Rule = (prompt: Prompt) => string | undefined

const rules: readonly Rule[] = [
  obey,
  sayValue,
  repeatResults,
  sayExactly,
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
  if (question === '') return 'You said nothing. I am the demo model and answer by a few plain rules.'
  return `You said: "${question}" I am the demo model and answer by a few plain rules.`
}

/** Follows `Reply with exactly: pong` in the instructions. */
function obey({ instructions }: Prompt): string | undefined {
  const what = instructed.exec(instructions)?.groups?.['what']
  return what === undefined || /^(?:one|two|three|four|five|an?|\d+) [\w-]+\W*$/i.test(what) ? undefined : plain(what)
}

/** Follows `Reply with just the number.`: returns the latest value of that name from a tool or the user. */
function sayValue({ question, earlier, instructions, results }: Prompt): string | undefined {
  const found = valueOnly.exec(question)
  if (found === null) return undefined
  const name = (found.groups?.['name'] ?? found.groups?.['named'] ?? '').toLowerCase()
  const rest = question.slice(0, found.index) + question.slice(found.index + found[0].length)
  const texts = [instructions, ...earlier, rest, ...results.map(({ text }) => text)]
  const fact = factsIn(texts).get(name)
  if (fact !== undefined || !numeric.test(name)) return fact
  for (const text of texts.toReversed()) {
    const number = text.match(/-?\d+(?:[.,]\d+)*/g)?.at(-1)
    if (number !== undefined) return number
  }
  return undefined
}

/** After tool calls: the text that the user requested for this case, otherwise the results. */
function repeatResults({ question, results }: Prompt): string | undefined {
  if (results.length === 0) return undefined
  const what = finallySaid.exec(question)?.groups?.['what']
  return plain(what) ?? results.map(({ tool, text }) => `${tool} says: ${text}`).join('\n')
}

const speaking = '\\b(?:reply|respond|answer|say|repeat|output|return|print)\\b(?: back)?(?: to me)?'
const strictly = `${speaking}(?: with)?(?: exactly| only| just|(?= the (?:single )?word))(?: with)?`
const filler = '(?: (?:the|this|one|single|word|words|text|phrase|number))*'
const quoted = new RegExp(`${speaking}[^"“\\n{[]{0,40}["“](?<what>[^"”]{1,2000})["”]`, 'i')
const exactly = new RegExp(
  `(?:${strictly}|\\b(?:repeat after me|echo)\\b)${filler}[:,]? ?\\n?(?<what>[^\\n]{1,2000})`,
  'i',
)
const answering = '(?:reply|respond|answer|say)(?: back)?'
/** Only at the start of a sentence, because a sentence with a condition applies to some questions only. */
const instructed = new RegExp(
  `(?:^|[.!?\\n]\\s*)(?:please |always |only |you must )*${answering}(?: with exactly| exactly with| exactly(?=:| ["“'\`]))` +
    `(?: the (?:single )?(?:word|text|phrase))?[:,]? ?\\n?(?<what>[^\\n]{1,2000})`,
  'i',
)
const finallySaid = new RegExp(`\\b${answering} with (?:exactly|only|just)${filler}[:,]? ?(?<what>[^\\n]{1,2000})`, 'i')
const requesting =
  '\\b(?:reply|respond|answer|say|repeat|output|return|print|give|tell|write)(?: back)?(?: to me| me)?(?: with)?'
const valueOnly = new RegExp(
  `${requesting}(?: (?:only|just|exactly)(?: with)? (?:the|that|this|its|my) (?<name>[a-z][\\w -]{0,40}?)(?:,? and nothing else)?` +
    `| (?:the|that|this|its|my) (?<named>[a-z][\\w -]{0,40}?)(?: only| alone|,? and nothing else))(?=[.!?]?\\s*$|[.!?] )`,
  'i',
)
const numeric = /\b(?:number|numeral|digits?|value|result|sum|total|amount|count|answer|temperature|price)$/i

/** Follows `Reply with exactly: pong`, `say only "OK"` and `Repeat "one two"`. */
function sayExactly({ question }: Prompt): string | undefined {
  return quoted.exec(question)?.groups?.['what'] ?? plain(exactly.exec(question)?.groups?.['what'])
}

/** The requested text, without quotes and the words after it; undefined if nothing remains. */
function plain(requested: string | undefined): string | undefined {
  const what = requested?.trim()
  const unquoted = what?.replace(/^['‘"“`](.*?)['’"”`].*$/, '$1')
  if (unquoted !== what) return unquoted || undefined
  const alone = what?.replace(/[,.]? (?:and )?nothing else\b.*$/i, '').replace(/[.!?](?:\s.*)?$/, '')
  return alone || undefined
}

/** Follows `Count from 1 to 5`. */
function count({ question }: Prompt): string | undefined {
  const found = /\bcount (?:from )?(?:(\d{1,4}) )?(?:up )?to (\d{1,4})\b/i.exec(question)
  if (found === null) return undefined
  const first = Number(found[1] ?? 1)
  const last = Number(found[2])
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index).join(', ')
}

const tale =
  'Once a small model lived in a quiet server and answered every question by a plain rule . It knew few words and told them in order , and whoever asked again got the same tale .'.split(
    ' ',
  )

/** Follows `Write a story of 300 words`. */
function writeAtLength({ question }: Prompt): string | undefined {
  const found = /\b(\d{1,4})[ -]words?\b/i.exec(question)
  if (found === null || Number(found[1]) < 20) return undefined
  const words: string[] = []
  for (let count = 0, at = 0; count < Number(found[1]); at++) {
    const word = tale[at % tale.length] as string
    if (/\w/.test(word)) count++
    words.push(word)
  }
  return words.join(' ').replace(/ ([.,])/g, '$1')
}

/** Answers `What is my name?` from earlier messages, and `What did the tool say?` from earlier results. */
function recall({ question, earlier, instructions, earlierResults }: Prompt): string | undefined {
  if (!/\?|\b(?:what|which|who|recall|remember|remind|repeat|tell me)\b/i.test(question)) return undefined
  const facts = factsAskedFor(question, factsIn([instructions, ...earlier, question]))
  if (facts.length > 0) return facts.map(([name, value]) => `You told me: ${name} is ${value}.`).join(' ')
  if (earlierResults.length === 0 || !/\b(?:tools?|functions?|results?|outputs?)\b/i.test(question)) return undefined
  return earlierResults.map(({ tool, text }) => `${tool} said: ${text}`).join('\n')
}

const kinds = { image: 'an image', audio: 'a sound', file: 'a file' } as const

/** Names the kinds and types of the attachments: the model cannot read them. */
function describe({ attachments }: Prompt): string | undefined {
  if (attachments.length === 0) return undefined
  const parts = attachments.slice(0, 20).map(({ type, source }) => {
    const known = type === 'image' && 'mediaType' in source && /^[\w.+-]+\/[\w.+-]+$/.test(source.mediaType ?? '')
    return `${kinds[type]}${known ? ` (${source.mediaType})` : ''}`
  })
  return `I received ${parts.join(', ')} with your message. I am the demo model and cannot look inside.`
}

/** Confirms `My name is Ada.` */
function takeNote({ question }: Prompt): string | undefined {
  const facts = [...factsIn([question])]
  return facts.length === 0 ? undefined : `Noted: ${facts.map(([name, value]) => `${name} is ${value}`).join(', ')}.`
}

function greet({ question }: Prompt): string | undefined {
  if (!/\b(?:hello|hi|hey|good (?:morning|evening))\b/i.test(question)) return undefined
  return 'Hello! I am the demo model. I answer by a few plain rules, without a key and without a network.'
}
