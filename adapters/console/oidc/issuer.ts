import type { Configuration } from 'openid-client'

/** What the issuer says of a person, such as `sub`, `email`, `name`, `groups`. */
export interface Claims {
  /** Who it is: the issuer never gives it to anyone else. */
  readonly sub: string
  /** All others that the issuer sends, which depends on the issuer and the scope. */
  readonly [name: string]: unknown
}

/** What a browser brings back from the issuer must match. */
export interface Flow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface IssuerOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly scope: string
  readonly parameters: Readonly<Record<string, string>>
  /** Where the issuer sends the browser to. */
  readonly redirectUrl: string
}

type Library = typeof import('openid-client')

interface Opened {
  readonly library: Library
  readonly configuration: Configuration
}

/** Seconds to wait for an answer of the issuer. */
const timeout = 10

/** An OpenID provider, which is asked for its configuration when it is first needed. */
export class Issuer {
  readonly #options: IssuerOptions
  #opened: Promise<Opened> | undefined

  constructor(options: IssuerOptions) {
    this.#options = options
  }

  /** A flow, and where the browser has to go with it. `again`: the issuer asks for the password although it knows who it is. */
  async begin(again: boolean): Promise<{ readonly flow: Flow; readonly url: string }> {
    const { library, configuration } = await this.#open()
    const { scope, parameters, redirectUrl } = this.#options
    const flow = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    }
    const url = library.buildAuthorizationUrl(configuration, {
      ...(again && { prompt: 'login' }),
      ...parameters,
      scope,
      redirect_uri: redirectUrl,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    })
    return { flow, url: url.href }
  }

  /** Who has signed in. `query`: what the browser has brought from the issuer. */
  async finish(query: URLSearchParams, { state, nonce, verifier }: Flow): Promise<{ claims: Claims; idToken: string }> {
    const { library, configuration } = await this.#open()
    const url = new URL(this.#options.redirectUrl)
    url.search = query.toString()
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
    const tokens = await library.authorizationCodeGrant(configuration, url, checks)
    const claims = tokens.claims()
    if (claims === undefined || tokens.id_token === undefined) throw new Error('the issuer has sent no ID token')
    // Many issuers put groups and addresses only here.
    const more =
      configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)
    return { claims: { ...more, ...claims }, idToken: tokens.id_token }
  }

  /** Where the browser ends its session at the issuer, before it goes to `next`; undefined if the issuer has no such place. */
  async endSession(next: string, idToken: string | undefined): Promise<string | undefined> {
    const { library, configuration } = await this.#open()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    const hint = idToken === undefined ? {} : { id_token_hint: idToken }
    return library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: next, ...hint }).href
  }

  #open(): Promise<Opened> {
    return (this.#opened ??= this.#discover().catch((error: unknown) => {
      this.#opened = undefined
      throw error
    }))
  }

  async #discover(): Promise<Opened> {
    const library = await imported()
    const { issuer, clientId, clientSecret } = this.#options
    const post = library.ClientSecretPost(clientSecret)
    const basic = library.ClientSecretBasic(clientSecret)
    const configuration = await library.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === undefined
        ? library.None()
        : (server, ...rest) => (takesOnlyPost(server) ? post : basic)(server, ...rest),
      { timeout, execute: issuer.startsWith('http:') ? [library.allowInsecureRequests] : [] },
    )
    return { library, configuration }
  }
}

/** The specification's default is Basic. */
function takesOnlyPost({
  token_endpoint_auth_methods_supported: methods,
}: {
  readonly token_endpoint_auth_methods_supported?: string[]
}): boolean {
  return methods !== undefined && !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
}

async function imported(): Promise<Library> {
  try {
    return await import('openid-client')
  } catch (cause) {
    throw new Error('signInByOidc: install the package "openid-client"', { cause })
  }
}
