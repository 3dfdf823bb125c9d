/** Multipart bodies that are almost right: written by a grammar, then damaged in a few places. The same for the same seed. */
import { seeded } from '../random.ts'

export interface Random {
  /** At least 0, less than `below`. */
  (below: number): number
}

export function randomFrom(seed: number): Random {
  const random = seeded(seed)
  return (below) => Math.floor(random() * below)
}

const names = [
  'model',
  'file',
  'image',
  'image[]',
  'prompt',
  'n',
  'stream',
  'include[]',
  '__proto__',
  'constructor',
  '',
  'ä',
  'a"b',
]
const values = [
  'm',
  'true',
  '1',
  '',
  '\r\n',
  '--b',
  '\r\n--b',
  '\r\n--b--',
  '\u0000',
  'x'.repeat(300),
  '{"a":1}',
  '\ud83d\ude00',
]
const heads = [
  'Content-Disposition: form-data; name="#"',
  'Content-Disposition: form-data; name="#"; filename="a.wav"\r\nContent-Type: audio/wav',
  'Content-Disposition: form-data; name="#"; filename=""\r\nContent-Type: application/octet-stream',
  'Content-Disposition: form-data; name="#"; filename*=utf-8\'\'a%0d%0aX%',
  'Content-Disposition: form-data; name=#',
  'content-disposition:form-data;name="#";filename="\\"\\\\',
  'Content-Disposition: attachment; name="#"',
  'Content-Type: text/plain; charset=utf-16\r\nContent-Disposition: form-data; name="#"',
  'Content-Disposition: form-data; name="#"\r\nContent-Transfer-Encoding: base64',
  'X-Long: ' + 'y'.repeat(500) + '\r\nContent-Disposition: form-data; name="#"',
]
const tokens = [
  '\r\n',
  '\n',
  '\r',
  '--',
  '--b',
  '--b--',
  '\r\n\r\n',
  '"',
  ';',
  ':',
  '\u0000',
  '\u00ff',
  '%',
  'filename*=',
  ' ',
  '\t',
]

/** One body, as latin1 text; its boundary is `b`. */
export function mutant(random: Random): string {
  const pick = <T>(list: readonly T[]) => list[random(list.length)] as T
  const part = () => `--b\r\n${pick(heads).replace('#', pick(names))}\r\n\r\n${pick(values)}\r\n`
  const good = [
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n',
    `--b\r\n${heads[1]?.replace('#', 'file')}\r\n\r\nsound\r\n`,
  ]
  const parts = Array.from({ length: random(6) }, part)
  let body = [...(random(3) === 0 ? good.toReversed() : good), ...parts].join('') + '--b--\r\n'
  for (let damage = random(4); damage > 0; damage--) body = damaged(body, random, pick(tokens))
  return body
}

function damaged(body: string, random: Random, token: string): string {
  const at = random(body.length + 1)
  const end = at + random(random(4) === 0 ? 200 : 8)
  switch (random(6)) {
    case 0:
      return body.slice(0, at) + body.slice(end)
    case 1:
      return body.slice(0, at) + token + body.slice(at)
    case 2:
      return body.slice(0, at) + body.slice(at, end).repeat(1 + random(3)) + body.slice(end)
    case 3:
      return body.slice(0, at)
    case 4:
      return body.slice(0, at) + String.fromCharCode(random(256)) + body.slice(at + 1)
    default:
      return body.slice(0, at) + token.repeat(random(20)) + body.slice(end)
  }
}

/** The bytes in pieces of arbitrary sizes. */
export function inPieces(body: string, random: Random): Buffer[] {
  const bytes = Buffer.from(body, 'latin1')
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random(random(3) === 0 ? 5 : 400)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}
