/** Decides by common words: the more words a choice, a level or a condition shares with the input, the likelier it is. */
import type { DecisionAnswer, DecisionList, DecisionQuestion, DecisionRequest } from '../../wire/decisions.ts'
import { tokenUsage } from '../../wire/counts.ts'
import { usageOf } from '../../wire/usage.ts'
import { wordsIn } from './rerank.ts'
import { countTokens } from './tokens.ts'

export function decide({ input, questions }: DecisionRequest): DecisionList {
  const text = textOf(input)
  const words = wordsIn(text)
  const tokens = questions.reduce((sum, each) => sum + countTokens(textOf(each)), countTokens(text))
  return { answers: questions.map((each) => answerOf(each, words)), usage: tokenUsage(usageOf(tokens, 0)) }
}

function answerOf(question: DecisionQuestion, words: ReadonlySet<string>): DecisionAnswer {
  const { type, name = null, choices = [], levels = [] } = question
  if (type === 'choice') {
    const shares = sharesOf(choices, words)
    const probabilities = choices.map(({ value }, index) => ({ value, probability: shares[index] ?? 0 }))
    const best = probabilities.reduce((left, right) => (right.probability > left.probability ? right : left))
    return { type, name, choice: best.value, confidence: best.probability, probabilities }
  }
  if (type === 'score') {
    const shares = sharesOf(levels, words)
    const probabilities = levels.map(({ label }, value) => ({ value, label, probability: shares[value] ?? 0 }))
    const score = probabilities.reduce((sum, { value, probability }) => sum + value * probability, 0)
    return { type, name, score, confidence: Math.max(...shares), probabilities }
  }
  const asked = wordsIn(textOf(question.instructions))
  return { type, name, probability: common(asked, words) / Math.max(1, asked.size) }
}

/** Shares of one, which add up to it. */
function sharesOf(options: readonly unknown[], words: ReadonlySet<string>): number[] {
  const counts = options.map((each) => 1 + 3 * common(wordsIn(textOf(each)), words))
  const sum = counts.reduce((total, count) => total + count, 0)
  return counts.map((count) => count / sum)
}

function common(some: ReadonlySet<string>, words: ReadonlySet<string>): number {
  return [...some].filter((word) => words.has(word)).length
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
