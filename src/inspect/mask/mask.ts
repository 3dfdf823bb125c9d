/** Vendors get placeholders for what is personal or secret, and clients what stood there. */
import { createHmac, randomBytes } from 'node:crypto'
import type { AnswerVerdict, AnswerWindow, Edit, Inspect } from '../contract.ts'
import { checkKnown, elsewhere, flag, text as anyText, type Known } from '../../records/known-options.ts'
import { edited } from '../edited.ts'
import { mapStrings, mapText } from '../strings.ts'
import { findAll, maskPatterns, patternOf, type MaskName, type MaskPattern } from './patterns.ts'

/** Options of `mask`. */
export interface MaskOptions {
  /** What is masked: names of `maskPatterns`, or patterns of your own. Default: all of `maskPatterns`. */
  readonly patterns?: readonly (MaskName | MaskPattern)[]
  /**
   * A secret that the codes of placeholders are made with. With the same one in all processes and after a restart, a conversation
   * keeps its placeholders, and so its prompt cache and its signatures. Default: a random one for each call of `mask`; an
   * explicit `undefined` throws, because it means that a variable is not set.
   */
  readonly key?: string | undefined
  /** Whether what answers contain beside the request's own values is masked for the client, for good. Default false. */
  readonly answers?: boolean
}

const known: Known<MaskOptions> = {
  patterns: elsewhere,
  key: { ...anyText, must: 'must be a non-empty string: is a variable unset? Omit it for a random one.', always: true },
  answers: flag,
}

/** Letters only, so that no pattern finds a number that begins in a placeholder. */
const codeLength = 8

/** Characters of an answer that may wait, if its own values are masked. */
const heldBack = 512
/** The end of a text that may be the beginning of what a pattern finds. */
const unfinished = /(?:[+(]?\d[\d\s()./-]*|[A-Za-z]{2}\d{2}[A-Za-z0-9 -]*|\S+)$/

/**
 * An inspector that masks values in requests, and puts them back into answers and the inputs of tools, however the answer is
 * split. Reasoning keeps the placeholders, because vendors sign it. Throws a `TypeError` for an invalid option.
 *
 * @example
 * createGateway({ models, inspect: [mask({ patterns: ['card', 'iban', 'email'], key: secrets.mask })] })
 */
export function mask(options: MaskOptions = {}): Inspect {
  checkKnown('mask', options, known)
  const { patterns: chosen, key, answers = false } = options
  const patterns = (chosen ?? Object.values(maskPatterns)).map((each) => patternOf(each, 'mask'))
  const secret = key ?? randomBytes(32)
  const names = [...new Set(patterns.map(({ name }) => name))]
  const placeholder = new RegExp(`(?:${names.join('|')})_[A-Z]{${codeLength}}`, 'g')
  /** The length of the end of a text that may be the beginning of a placeholder. */
  const beginning = (text: string): number => {
    for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
      const end = text.slice(-length)
      const code = end.indexOf('_') + 1
      const begins = (name: string) =>
        code === 0 ? `${name}_`.startsWith(end) : end.startsWith(`${name}_`) && /^[A-Z]*$/.test(end.slice(code))
      if (names.some(begins)) return length
    }
    return 0
  }
  const usual = patterns.every((each) => Object.values(maskPatterns).includes(each))
  const longest = Math.max(...names.map(({ length }) => length)) + 1 + codeLength

  return () => {
    const values = new Map<string, string>()
    const placeholders = new Map<string, string>()
    const placeholderFor = (name: string, found: string): string => {
      const earlier = placeholders.get(`${name} ${found}`)
      if (earlier !== undefined) return earlier
      const value = found.replaceAll(placeholder, (inner) => values.get(inner) ?? inner)
      for (let number = 0; ; number++) {
        const made = `${name}_${codeOf(secret, `${name} ${number} ${value}`)}`
        if ((values.get(made) ?? value) !== value) continue
        values.set(made, value)
        placeholders.set(`${name} ${found}`, made)
        return made
      }
    }
    const masked = (text: string) =>
      patterns.reduce((before, pattern) => {
        const edits = Array.from(findAll(before, pattern), ({ start, end }) => ({
          start,
          end,
          text: placeholderFor(pattern.name, before.slice(start, end)),
        }))
        return edited(before, edits)
      }, text)

    return {
      name: 'mask',
      holdBack: { characters: answers ? heldBack : 64, ms: Infinity },
      request(conversation) {
        const changed = mapStrings(conversation, (text) => mapText(text, masked))
        return changed === conversation ? undefined : { conversation: changed, reversible: true }
      },
      answer: (window) => restored(window),
    }

    function restored({ kind, text, ended, isJson }: AnswerWindow): AnswerVerdict {
      if (kind === 'reasoning') return { hold: 0 }
      const edits: Edit[] = []
      if (values.size > 0)
        for (const { 0: found, index } of text.matchAll(placeholder)) {
          const value = values.get(found)
          const shown = value !== undefined && isJson ? JSON.stringify(value).slice(1, -1) : value
          if (shown !== undefined) edits.push({ start: index, end: index + found.length, text: shown })
        }
      const begun = values.size > 0 ? beginning(text) : 0
      if (!answers) return { hold: ended ? 0 : begun, edits, reversible: true }
      const others = patterns.flatMap((pattern) =>
        Array.from(findAll(text, pattern), ({ start, end }) => {
          const isNumber = isJson && /^\d+$/.test(text.slice(start, end))
          return { start, end, text: isNumber ? '0' : `[${pattern.name}]` }
        }),
      )
      const all = [...edits, ...others].sort((left, right) => left.start - right.start || right.end - left.end)
      let taken = 0
      const apart = all.filter(({ start, end }) => {
        const isFree = start >= taken
        taken = Math.max(taken, end)
        return isFree
      })
      const tail = usual ? (unfinished.exec(text.slice(-heldBack))?.[0].length ?? 0) : 64
      return {
        hold: Math.max(begun, tail),
        edits: apart,
        reversible: others.length === 0,
      }
    }
  }
}

function codeOf(secret: string | Buffer, text: string): string {
  const bytes = createHmac('sha256', secret).update(text).digest()
  return Array.from(bytes.subarray(0, codeLength), (byte) => String.fromCharCode(65 + (byte % 26))).join('')
}
