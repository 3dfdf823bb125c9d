/** Workload identity: a token of the host's platform is exchanged for one of a vendor (RFC 8693, RFC 7523). */
import { readFile } from 'node:fs/promises'
import { hasSucceeded, readJsonObject } from '../answer.ts'
import { Client } from '../client.ts'
import type { ExpiringToken } from '../credentials/token.ts'

/** The token of the platform, such as a service account's in Kubernetes: in a file, or from a function. */
export type IdentityToken = TokenFile | (() => string | Promise<string>)

/** A file that has a token and nothing else. */
export interface TokenFile {
  /** Its path. It is read for each exchange, because platforms replace the token. */
  readonly file: string
}

export interface Exchange {
  readonly url: string
  readonly token: IdentityToken
  readonly fields: (token: string) => Readonly<Record<string, string>>
  /** Default: the fields are sent as JSON. */
  readonly asForm?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

const answerBytes = 65_536
const limitMs = 10_000

/** One exchange. Errors contain neither token, and nothing that the vendor wrote. */
export async function exchanged({ url, token, fields, asForm = false, headers }: Exchange): Promise<ExpiringToken> {
  const given = typeof token === 'function' ? await token() : await readFile(token.file, 'utf8')
  const body = fields(given.trim())
  const client = new Client({ baseURL: url, connectMs: limitMs, firstByteMs: limitMs, answerBytes })
  try {
    const startedAt = Date.now()
    const transfer = await client.send({
      path: '',
      body: Buffer.from(asForm ? String(new URLSearchParams(body)) : JSON.stringify(body)),
      headers: { ...headers, 'content-type': asForm ? 'application/x-www-form-urlencoded' : 'application/json' },
      signal: AbortSignal.timeout(limitMs),
    })
    if (!hasSucceeded(transfer)) {
      transfer.stop()
      throw new Error(`the token endpoint answered ${transfer.status}: check the ids and the token of the platform`)
    }
    const answer = (await readJsonObject(transfer, answerBytes)).value as {
      access_token?: unknown
      expires_in?: unknown
    }
    const seconds = Number(answer.expires_in ?? 0)
    if (typeof answer.access_token !== 'string' || !(seconds > 0)) {
      throw new Error('the answer of the token endpoint has no "access_token" with "expires_in"')
    }
    return { token: answer.access_token, expiresAt: startedAt + seconds * 1000 }
  } finally {
    await client.close()
  }
}
