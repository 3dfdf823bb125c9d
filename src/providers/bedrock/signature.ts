/** Signature Version 4 of AWS. Source: the IAM User Guide, Create a signed AWS API request. */
import { createHash, createHmac } from 'node:crypto'
import type { AuthHeaders, Credentials, Refusal, UnsignedRequest } from '../credentials/contract.ts'
import { Renewed } from '../credentials/renewed.ts'

/** Keys of AWS, as the credential providers of AWS's SDK return them. */
export interface AwsKeys {
  /** The id of the key. */
  readonly accessKeyId: string
  /** The key, which is never sent. */
  readonly secretAccessKey: string
  /** Of temporary keys. */
  readonly sessionToken?: string | undefined
  /** Of temporary keys: their end. They are renewed in the background before. */
  readonly expiration?: Date | undefined
}

/** What a signature is valid for. */
export interface SigningScope {
  readonly region: string
  readonly service: string
}

/** For keys without an end: a chain of credentials may find others later. */
const keptMs = 300_000

/** Signs requests with keys of AWS. */
export class AwsCredentials implements Credentials {
  readonly #keys: Renewed<AwsKeys>
  readonly #keysOf = new WeakMap<AuthHeaders, AwsKeys>()
  readonly #scope: SigningScope

  constructor(source: AwsKeys | (() => AwsKeys | Promise<AwsKeys>), scope: SigningScope) {
    this.#scope = scope
    this.#keys = new Renewed(async () => {
      const value = checked(typeof source === 'function' ? await source() : source)
      return { value, expiresAt: value.expiration?.getTime() ?? Date.now() + keptMs }
    })
  }

  headers(request: UnsignedRequest): AuthHeaders | Promise<AuthHeaders> {
    const keys = this.#keys.value()
    return keys instanceof Promise ? keys.then((each) => this.#sign(request, each)) : this.#sign(request, keys)
  }

  /** AWS answers 403 to keys that have expired, and to those without access to a model. */
  refused(headers: AuthHeaders, { reason, earlier }: Refusal): boolean {
    const keys = this.#keysOf.get(headers)
    return keys !== undefined && reason === 'key' && earlier.length === 0 && this.#keys.discard(keys)
  }

  #sign({ method, url, body }: UnsignedRequest, keys: AwsKeys): AuthHeaders {
    // A body that streams is not signed; the connection is encrypted.
    const content = method === 'GET' || body !== undefined ? sha256(body ?? '') : 'UNSIGNED-PAYLOAD'
    const { sessionToken: token } = keys
    const headers = signed(
      {
        method,
        url: new URL(url),
        headers: { 'x-amz-content-sha256': content, ...(token !== undefined && { 'x-amz-security-token': token }) },
        content,
      },
      { keys, scope: this.#scope, at: new Date() },
    )
    this.#keysOf.set(headers, keys)
    return headers
  }
}

/** The given headers of a request with those that sign them; `content` is the hash of the body. */
export function signed(
  request: { readonly method: string; readonly url: URL; readonly headers: AuthHeaders; readonly content: string },
  { keys, scope, at }: { readonly keys: AwsKeys; readonly scope: SigningScope; readonly at: Date },
): AuthHeaders {
  const { method, url, content } = request
  const time = at.toISOString().replace(/[:-]|\.\d{3}/g, '')
  const headers = { ...request.headers, 'x-amz-date': time }
  const lines = Object.entries({ ...headers, host: url.host }).sort(byText)
  const names = lines.map(([name]) => name).join(';')
  const canonical = [
    method,
    url.pathname.split('/').map(encoded).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort(inOrder)
      .join('&'),
    ...lines.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    content,
  ].join('\n')
  const place = [time.slice(0, 8), scope.region, scope.service, 'aws4_request']
  const key = place.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${keys.secretAccessKey}`)
  const text = ['AWS4-HMAC-SHA256', time, place.join('/'), sha256(canonical)].join('\n')
  const by = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${place.join('/')}`
  return { ...headers, authorization: `${by}, SignedHeaders=${names}, Signature=${hmac(key, text).toString('hex')}` }
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest()
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
}

function byText([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return inOrder(one, other)
}

/** By code units, and not by language. */
function inOrder(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** The error does not repeat the keys. */
function checked(keys: AwsKeys): AwsKeys {
  const { accessKeyId, secretAccessKey, sessionToken = 'none' } = Object(keys) as Partial<AwsKeys>
  if (isText(accessKeyId) && isText(secretAccessKey) && isText(sessionToken)) return keys
  throw new TypeError('bedrock: the credentials must have "accessKeyId", "secretAccessKey" and perhaps "sessionToken"')
}

function isText(text: unknown): boolean {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)
}
