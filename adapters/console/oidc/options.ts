import type { Identity } from '../../../src/admin/api/index.ts'
import { callback, checkKnown, secret, text, textByName, timer, type Rule } from '../../../src/records/known-options.ts'
import type { Claims } from './issuer.ts'

/** Options of `signInByOidc`. */
export interface OidcOptions {
  /**
   * The public address of the console, such as `https://api.example.com/console/`, also behind a proxy. Register `sign-in` below it as
   * the redirect URI of the client, and `sign-out` as the URI after logout.
   */
  readonly url: string
  /** The issuer, whose configuration is at `/.well-known/openid-configuration` below it. `https`, or `http` on the own machine. */
  readonly issuer: string
  /** The client that is registered at the issuer. */
  readonly clientId: string
  /** The secret of the client. Default: it is a public client, which PKCE protects. */
  readonly clientSecret?: string
  /**
   * Encrypt the cookies, at least 32 characters each. The first one encrypts, all open: put a new one in front, and remove the old one
   * when `sessionMs` have passed. Removing one ends its sessions. The same in all processes.
   */
  readonly secrets: readonly string[]
  /**
   * Who somebody is in the console, by what the issuer says of them: those of the ID token and of the UserInfo endpoint. Undefined:
   * they have no access. Asked once for each sign-in: changes at the issuer count from the next one.
   */
  readonly identify: (claims: Claims) => Promise<Identity | undefined> | Identity | undefined
  /** What to ask the issuer for, with spaces between. Default: `openid profile email`. */
  readonly scope?: string
  /** Further parameters of the request for authorization, such as `{ hd: 'example.com' }`. Default: none. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Milliseconds until somebody has to sign in again. Default: 8 hours. */
  readonly sessionMs?: number
  /** Called with what made a sign-in fail, except for the decisions of people. Default: nothing. */
  readonly onError?: (error: unknown) => void
}

export function checkOidcOptions(options: OidcOptions): void {
  checkKnown('signInByOidc', options ?? {}, {
    url: { ...publicUrl, always: true },
    issuer: { ...issuerUrl, always: true },
    clientId: { ...text, always: true },
    clientSecret: secret,
    secrets: { ...secrets, always: true },
    identify: { ...callback, always: true },
    scope,
    parameters: textByName,
    sessionMs: timer,
    onError: callback,
  })
  for (const name of ['url', 'issuer', 'clientId', 'secrets', 'identify'] as const)
    if (options?.[name] === undefined) throw new TypeError(`signInByOidc: "${name}" is missing`)
}

const publicUrl: Rule = {
  is: (value) =>
    /^https?:$/.test(urlOf(value)?.protocol ?? '') && urlOf(value)?.search === '' && urlOf(value)?.hash === '',
  must: 'must be the public address of the console, such as https://api.example.com/console/',
}

const issuerUrl: Rule = {
  is(value) {
    const { protocol, hostname } = urlOf(value) ?? {}
    return (
      protocol === 'https:' ||
      (protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname ?? ''))
    )
  },
  must: 'must be the address of the issuer, such as https://login.example.com: with https, except on the own machine',
}

/** Messages never repeat them. */
const secrets: Rule = {
  is: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each.length >= 32),
  must: "must be a list of secrets of at least 32 characters, such as those of 'openssl rand -base64 32': is a variable unset?",
}

const scope: Rule = {
  is: (value) => typeof value === 'string' && value.split(' ').includes('openid'),
  must: 'must have the word openid, such as "openid profile email"',
}

function urlOf(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
}
