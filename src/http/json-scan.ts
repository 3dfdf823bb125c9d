/**
 * One pass over the bytes of a JSON text (RFC 8259) that checks the grammar and the size limits without recursion and
 * without building anything, and notes where the top-level members stand. It runs before `JSON.parse`, zod and every
 * recursive function, and lets a large body be forwarded without being parsed at all.
 */
import { invalid } from '../errors.ts'
import type { Sizes } from './sizes.ts'

/** Where one top-level member stands: its key's first byte, its value's first byte and the byte after its value. */
export interface Member {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

/** 1 for the bytes that end a run of plain characters inside a string: the quote, the backslash, control characters. */
const endsRun = new Uint8Array(256)
endsRun.fill(1, 0, 0x20)
endsRun[quote] = 1
endsRun[backslash] = 1

const isSpace = new Uint8Array(256)
for (const space of ' \t\n\r') isSpace[space.charCodeAt(0)] = 1

/** Throws 400 for anything that is no JSON object, or is deeper or wider than `sizes` allow. */
export function scanObject(bytes: Uint8Array, sizes: Pick<Sizes, 'jsonDepth' | 'jsonEntries' | 'jsonNodes'>): Member[] {
  const members: Member[] = []
  const objects = new Uint8Array(sizes.jsonDepth + 1)
  const counts = new Uint32Array(sizes.jsonDepth + 1)
  let depth = 0
  let nodes = 0
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== openBrace) throw invalid('The request body must be a JSON object.')
  let keyStart = 0
  let keyEnd = 0
  let valueStart = at

  for (;;) {
    // A value begins here.
    const first = bytes[at]
    if (first === openBrace || first === openBracket) {
      const object = first === openBrace
      if (++depth > sizes.jsonDepth) throw invalid(`The request body is nested deeper than ${sizes.jsonDepth} levels.`)
      objects[depth] = object ? 1 : 0
      counts[depth] = 0
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== (object ? closeBrace : closeBracket)) {
        nodes = count(counts, depth, nodes, sizes)
        if (object) {
          if (depth === 1) keyStart = at
          at = skipKey(bytes, at)
          if (depth === 1) {
            keyEnd = lastKeyEnd
            valueStart = at
          }
        }
        continue
      }
      at++
      depth--
    } else {
      at = skipScalar(bytes, at)
    }

    // A value has ended: close what ends with it, then go on to the next member.
    for (;;) {
      if (depth === 1) members.push({ name: nameOf(bytes, keyStart, keyEnd), start: keyStart, valueStart, end: at })
      at = skipSpace(bytes, at)
      if (depth === 0) {
        if (at !== bytes.length) throw broken()
        return members
      }
      const object = objects[depth] === 1
      const next = bytes[at]
      if (next === comma) {
        nodes = count(counts, depth, nodes, sizes)
        at = skipSpace(bytes, at + 1)
        if (object) {
          if (depth === 1) keyStart = at
          at = skipKey(bytes, at)
          if (depth === 1) {
            keyEnd = lastKeyEnd
            valueStart = at
          }
        }
        break
      }
      if (next !== (object ? closeBrace : closeBracket)) throw broken()
      at++
      depth--
    }
  }
}

function count(counts: Uint32Array, depth: number, nodes: number, sizes: Pick<Sizes, 'jsonEntries' | 'jsonNodes'>) {
  const entries = (counts[depth] ?? 0) + 1
  counts[depth] = entries
  if (entries > sizes.jsonEntries || nodes >= sizes.jsonNodes) {
    throw invalid(
      `The request body has too many parts: at most ${sizes.jsonEntries} in one list or object, ${sizes.jsonNodes} in all.`,
    )
  }
  return nodes + 1
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace[bytes[at] as number] === 1) at++
  return at
}

/** Set by `skipKey`: the byte after the closing quote of the key. A tuple for each key would cost more than the scan. */
let lastKeyEnd = 0

function skipKey(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== quote) throw broken()
  lastKeyEnd = skipString(bytes, from)
  const at = skipSpace(bytes, lastKeyEnd)
  if (bytes[at] !== colon) throw broken()
  return skipSpace(bytes, at + 1)
}

function skipScalar(bytes: Uint8Array, from: number): number {
  switch (bytes[from]) {
    case quote:
      return skipString(bytes, from)
    case 0x74:
      return skipWord(bytes, from, 'true')
    case 0x66:
      return skipWord(bytes, from, 'false')
    case 0x6e:
      return skipWord(bytes, from, 'null')
    default:
      return skipNumber(bytes, from)
  }
}

function skipString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  for (;;) {
    while (endsRun[bytes[at] as number] === 0) at++
    const stop = bytes[at]
    if (stop === quote) return at + 1
    if (stop !== backslash) throw broken()
    const escape = bytes[at + 1]
    if (escape === 0x75 /* u */) {
      for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(bytes[digit])) throw broken()
      at += 6
    } else if (escape !== undefined && '"\\/bfnrt'.includes(String.fromCharCode(escape))) at += 2
    else throw broken()
  }
}

function skipWord(bytes: Uint8Array, from: number, word: string): number {
  for (let index = 1; index < word.length; index++) {
    if (bytes[from + index] !== word.charCodeAt(index)) throw broken()
  }
  return from + word.length
}

function skipNumber(bytes: Uint8Array, from: number): number {
  let at = from
  if (bytes[at] === 0x2d /* - */) at++
  if (bytes[at] === 0x30 /* 0 */) at++
  else at = skipDigits(bytes, at)
  if (bytes[at] === 0x2e /* . */) at = skipDigits(bytes, at + 1)
  if (bytes[at] === 0x65 || bytes[at] === 0x45 /* e E */) {
    at++
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++
    at = skipDigits(bytes, at)
  }
  return at
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (isDigit(bytes[at])) at++
  if (at === from) throw broken()
  return at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function isHex(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

function nameOf(bytes: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
}

function broken(): Error {
  return invalid('We could not parse the JSON body of your request. It must be one valid JSON object in UTF-8.')
}
