/** Sends mutants, several at once, alternating between the hosts; every tenth in pieces over a socket. */
import { RawConnection } from '../adapters/hosts/raw.ts'
import { inPieces, randomFrom } from '../uploads/mutants.ts'
import { faultIn, markOf, send, type Answer } from './asking.ts'
import type { Attacked } from './attacked.ts'
import { almostValid, type Body } from './grammar.ts'
import { measured } from './measured.ts'
import { hostNames, keyOf, type HostName } from './places.ts'

const lanes = 6

export interface Sent {
  readonly sent: number
  /** The number of responses per status. */
  readonly answers: string
  /** Milliseconds of CPU of the longest turn, if any was too long at first. */
  readonly longest: number
}

/** Any running or recent request may have caused a turn that is too long. */
const suspects = 2 * lanes

export async function sendMutants(attacked: Attacked, most: number, withinMs: number): Promise<Sent> {
  const random = randomFrom(20_261_122)
  const statuses = new Map<number, number>()
  const end = performance.now() + withinMs
  const recent: (() => Promise<unknown>)[] = []
  const slow = new Set<() => Promise<unknown>>()
  attacked.slow = () => recent.forEach((each) => slow.add(each))
  let sent = 0
  let longest = 0
  const lane = async () => {
    while (sent < most && performance.now() < end) {
      const number = sent++
      const mark = markOf(number)
      const body = almostValid(random, mark)
      const host = hostNames[number % 2] as HostName
      const attack = () => {
        if (number % 10 > 0) return send(attacked, { host, ...body })
        return overSocket(attacked, host, body, inPieces(body.body.toString('latin1'), random))
      }
      const again = async () => {
        const { longest: turn = 0 } = (await measured(attacked, nameOf(number, body), attack)) ?? {}
        longest = Math.max(longest, turn)
      }
      recent.push(again)
      if (recent.length > suspects) recent.shift()
      const answer = await attacked.within(
        nameOf(number, body),
        attack().catch(() => undefined),
      )
      if (answer === undefined) continue
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      const fault = faultIn(answer, mark)
      if (fault !== undefined) attacked.faults.push(`${nameOf(number, body)}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  attacked.slow = () => undefined
  for (const again of [...slow].slice(0, 10 * suspects)) await again()
  const answers = [...statuses].sort(([left], [right]) => left - right).map(([status, count]) => `${status} × ${count}`)
  return { sent, answers: answers.join(', '), longest }
}

function nameOf(number: number, { path, body }: Body): string {
  return `mutant ${number}, ${path} ${body.toString('latin1').slice(0, 1_000)}`
}

async function overSocket(attacked: Attacked, host: HostName, body: Body, pieces: Buffer[]): Promise<Answer> {
  const { port, path } = attacked.ports.open[host]
  const connection = new RawConnection(port)
  const head = [
    `POST ${path}${body.path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${keyOf('a')}`,
    `content-type: ${body.contentType}`,
    ...Object.entries(body.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'transfer-encoding: chunked',
    '',
    '',
  ]
  try {
    await connection.send(head.join('\r\n'))
    for (const piece of pieces) await connection.send(chunkOf(piece))
    await connection.send('0\r\n\r\n')
    const { status, headers, body: text } = await connection.answer()
    return { status, headers, text }
  } finally {
    connection.destroy()
  }
}

function chunkOf(piece: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
}
