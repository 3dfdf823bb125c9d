/** A real OpenID provider on loopback, and people who sign in at it with a client that keeps cookies as a browser does. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Configuration } from 'oidc-provider'
import { request, type APIResponse } from 'playwright-core'
import { onTestFinished } from 'vitest'

export const clientSecret = 'the-secret-of-the-client-at-the-issuer'

export interface TestIssuer {
  /** The address that it has as an issuer. */
  readonly url: string
  readonly server: Server
  /** Takes no further connections; `listen` is back on the same port. */
  readonly stop: () => Promise<void>
  readonly listen: () => Promise<void>
  /** Of its last answers, the newest last: path and status. */
  readonly answers: { readonly path: string; readonly status: number }[]
  /** Registers a client whose console is at `url`. */
  readonly register: (url: string, more?: object) => void
}

/** Listens at `127.0.0.1`. The account of somebody is the login name; `ada` is an operator. */
export async function openIssuer(more: Configuration = {}): Promise<TestIssuer> {
  let handle: ((incoming: IncomingMessage, outgoing: ServerResponse) => unknown) | undefined
  const answers: { path: string; status: number }[] = []
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, outgoing) => {
    outgoing.on('finish', () => answers.push({ path: incoming.url ?? '', status: outgoing.statusCode }))
    void handle?.(incoming, outgoing)
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  await listen(0)
  onTestFinished(stop)
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const register = (console: string, client: object = {}) => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: 'console',
          client_secret: clientSecret,
          redirect_uris: [`${console}sign-in`],
          post_logout_redirect_uris: [`${console}sign-out`],
          ...client,
        },
      ],
      claims: { openid: ['sub'], email: ['email'], profile: ['name', 'groups'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, email: `${id}@example.com`, groups: id === 'ada' ? ['operators'] : [] }),
      }),
      pkce: { required: () => true },
      cookies: { keys: ['a key of the cookies of the issuer'] },
      ...more,
    })
    handle = provider.callback()
  }
  return { url, server, stop, listen: () => listen(port), answers, register }
}

export interface Person {
  /** Opens a page, and follows where it leads. */
  readonly open: (url: string) => Promise<Page>
  /** Where a page leads at once. */
  readonly step: (url: string) => Promise<string>
  /** Opens the page of the issuer that ends its session, and confirms. Returns the page at the end. */
  readonly leave: (url: string) => Promise<Page>
  /** Opens a page and signs in where it leads, as `name`. Returns the page at the end. */
  readonly signIn: (url: string, name: string) => Promise<Page>
  /** What the page's own scripts send. */
  readonly post: (url: string, headers?: Record<string, string>) => Promise<APIResponse>
  /** The values of its cookies. */
  readonly cookies: () => Promise<ReadonlyMap<string, string>>
}

export interface Page {
  readonly url: string
  readonly status: number
  readonly text: string
}

/** A browser without a screen: keeps cookies, follows redirects, fills in the forms of the issuer. */
export async function person(): Promise<Person> {
  const context = await request.newContext()
  onTestFinished(() => context.dispose())
  const pageOf = async (response: APIResponse): Promise<Page> => ({
    url: response.url(),
    status: response.status(),
    text: await response.text(),
  })
  const open = async (url: string) => pageOf(await context.get(url))
  return {
    open,
    step: async (url) => (await context.get(url, { maxRedirects: 0 })).headers()['location'] ?? '',
    async leave(url) {
      const { text } = await open(url)
      const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(text) ?? []
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(text) ?? []
      return pageOf(await context.post(action, { form: { xsrf, logout: 'yes' } }))
    },
    async signIn(url, name) {
      let page = await open(url)
      // The form of the issuer asks for a name and a password, and then whether the console may know who it is.
      for (let form = formOf(page); form !== undefined; form = formOf(page)) {
        const answer = form.prompt === 'login' ? { login: name, password: 'any' } : {}
        page = await pageOf(await context.post(form.action, { form: { prompt: form.prompt, ...answer } }))
      }
      return page
    },
    post: (url, headers = {}) => context.post(url, { headers: { 'x-modelhatch-admin': '1', ...headers } }),
    async cookies() {
      const { cookies } = await context.storageState()
      return new Map(cookies.map(({ name, value }) => [name, value]))
    },
  }
}

function formOf({ text }: Page): { readonly action: string; readonly prompt: string } | undefined {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? []
  const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? []
  return action === undefined || prompt === undefined ? undefined : { action, prompt }
}
