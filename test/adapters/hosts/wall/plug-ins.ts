/** Plug-ins that break their contracts in many ways, and the responses that clients may get. */
import { GatewayError, type Exchange, type GatewayOptions } from 'modelhatch'

export interface Misbehaviour {
  readonly name: string
  readonly options: Partial<GatewayOptions>
  /** The path of the request. Default: a chat, streamed and non-streaming. */
  readonly target?: '/v1/models' | '/v1/models/small'
  /** Allowed statuses. 200 means a complete response or a stream that ends correctly. */
  readonly fine: readonly number[]
  /** The response may never end: the client gives up. */
  readonly endless?: boolean
}

const never = new Promise<never>(() => undefined)
const evil = () => {
  throw new Error('sk-secret evil')
}
const throwsUndefined = () => {
  throw undefined
}
const untouchable: unknown = new Proxy(
  {},
  {
    get: evil,
    has: evil,
    ownKeys: evil,
    getPrototypeOf: evil,
  },
)
// oxlint-disable-next-line unicorn/no-thenable -- intended
const thenable = { then: (_: unknown, reject: (reason: unknown) => void) => reject(new Error('sk-secret evil')) }
const throwing = { get: evil, enumerable: true }
const trap = Object.defineProperties({}, { hash: throwing, account: throwing, id: throwing, name: throwing })
const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

/** Ways in which a function of a plug-in can fail. */
const failures: Readonly<Record<string, () => unknown>> = {
  throws: evil,
  'throws undefined': throwsUndefined,
  rejects: () => Promise.reject(new Error('sk-secret evil')),
  'rejects with undefined': () => Promise.reject(undefined),
  'rejects with an object that throws on access': () => Promise.reject(untouchable),
  'never answers': () => never,
  'returns a thenable that rejects': () => thenable,
}

/** Return values of wrong types. */
const shapes: Readonly<Record<string, unknown>> = {
  null: null,
  'a number': 7,
  'a string': 'yes',
  true: true,
  'an empty object': {},
  'an empty list': [],
  'an object that throws': trap,
  'a cyclic object': cyclic,
}

function table(part: string, fine: readonly number[], optionsFor: (answer: () => unknown) => Partial<GatewayOptions>) {
  return [
    ...Object.entries(failures).map(([name, answer]) => ({
      name: `${part} ${name}`,
      options: optionsFor(answer),
      fine,
    })),
    ...Object.entries(shapes).map(([name, value]) => ({
      name: `${part} returns ${name}`,
      options: optionsFor(() => value),
      fine,
    })),
  ]
}

const goodKey = { id: 'k', prefix: '', account: 'a', group: 'default', createdAt: 0, version: 1 }

const keyStores: Misbehaviour[] = [
  ...table('a key store', [401, 503], (answer) => ({ keys: {}, storage: { keys: { find: () => answer() as never } } })),
  {
    name: 'a key store returns the record of another key',
    options: { keys: {}, storage: { keys: { find: () => ({ ...goodKey, hash: '0'.repeat(64) }) } } },
    fine: [401, 503],
  },
  {
    name: 'a key store returns a record without account and group',
    options: { keys: {}, storage: { keys: { find: (hash: string) => ({ hash }) as never } } },
    fine: [401, 503],
  },
]

const authenticators: Misbehaviour[] = [
  ...table('authenticate()', [401, 503], (answer) => ({ authenticate: () => answer() as never })),
  {
    name: 'authenticate() returns a caller with fields of wrong types',
    options: { authenticate: () => ({ account: 1, group: {} }) as never },
    fine: [401, 503],
  },
  {
    name: 'authenticate() modifies the exchange',
    options: {
      authenticate(exchange: Exchange) {
        for (const name of Object.keys(exchange)) Reflect.set(exchange, name, null)
        return undefined
      },
    },
    fine: [400, 401, 404, 500, 503],
  },
]

const registries: Misbehaviour[] = [
  ...table('a registry, finding a model,', [404, 500, 503], (answer) => ({
    models: { find: () => answer() as never, list: () => [] },
  })),
  ...table('a registry, listing its models,', [200, 500, 503], (answer) => ({
    models: { find: () => undefined, list: () => answer() as never },
  })).map((each) => ({ ...each, target: '/v1/models' as const })),
  {
    name: 'a registry returns a model whose deployments have no provider',
    options: {
      models: {
        find: () => ({ id: 'small', created: 0, ownedBy: '', deployments: [null, {}, { provider: null }] }) as never,
        list: () => [],
      },
    },
    fine: [500, 503],
  },
]

/** A chat response that begins correctly. */
async function* beginning() {
  yield { choices: [{ index: 0, delta: { content: 'Hello' } }] }
}

function iterator(next: () => unknown, more: object = {}): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next, ...more }) as never }
}

/** A chat response with valid first content, then one step that `next` decides, then the end. */
function afterwards(next: () => unknown, more: object = {}): () => AsyncIterable<never> {
  return () => {
    const first = { value: { choices: [{ index: 0, delta: { content: 'Hello' } }] }, done: false }
    const steps = [() => Promise.resolve(first), next]
    return iterator(() => (steps.shift() ?? (() => Promise.resolve({ value: undefined, done: true })))(), more)
  }
}

const once = (value: unknown) => () => Promise.resolve({ value, done: false })

const answers: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(Object.entries(shapes).map(([name, value]) => [`returns ${name}`, () => value])),
  ...failures,
  'returns an iterable without an iterator': () => ({ [Symbol.asyncIterator]: () => undefined }),
  'returns an iterable that throws': () => ({ [Symbol.asyncIterator]: evil }),
  'returns an iterator whose step is undefined': () => iterator(() => Promise.resolve(undefined)),
  'throws in a step': () => iterator(evil),
  'yields null': () => iterator(once(null)),
  'yields an object that throws on access': () => iterator(once(untouchable)),
  'ends without content': () => iterator(() => Promise.resolve({ value: undefined, done: true })),
  'throws after the first content': afterwards(evil),
  'throws undefined after the first content': afterwards(() => Promise.reject(undefined)),
  'yields null after the first content': afterwards(once(null)),
  'yields a bigint after the first content': afterwards(once({ choices: [{ index: 0, delta: { content: 7n } }] })),
  'yields a cyclic object after the first content': afterwards(once({ choices: [cyclic] })),
  'falls silent after the first content': afterwards(() => never),
  'throws when it is stopped': afterwards(() => Promise.resolve({ value: undefined, done: true }), { return: evil }),
  'hangs when it is stopped': afterwards(evil, { return: () => never }),
  'returns a number when it is stopped': afterwards(evil, { return: () => 7 }),
  'fails asynchronously': afterwards(() => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 1))),
  'throws an error with headers that would split the response': () => {
    const headers = {
      'x-evil': 'a\r\nset-cookie: b',
      'content-length': '1',
      'transfer-encoding': 'chunked',
      'b a d': 'c',
    }
    throw new GatewayError('server_error', { headers, retryAfterMs: NaN })
  },
  'throws an error with an invalid status': () => {
    throw Object.assign(new GatewayError('server_error'), { status: 7, toJSON: evil })
  },
  'throws an imitation of a GatewayError': () => {
    throw { name: 'GatewayError', code: 'server_error', status: 200, message: untouchable, headers: 7 }
  },
  'throws an object that throws on access': () => {
    throw untouchable
  },
  'returns a completion without choices': () => ({ id: 'x', choices: null }),
  'returns a response and rejects another promise': () => {
    const rejected = Promise.reject(new Error('this promise is not awaited'))
    rejected.catch(() => undefined)
    return beginning()
  },
}

const providers: Misbehaviour[] = Object.entries(answers).map(([name, chat]) => ({
  name: `a provider ${name}`,
  endless: name === 'falls silent after the first content',
  options: {
    models: { small: { name: 'evil', chat: () => chat() as never } },
    ...(/never|silent/.test(name) && { timeouts: { firstContentMs: 200 } }),
  },
  fine: [200, 500, 503],
}))

const hooks: Misbehaviour[] = Object.entries(failures).map(([name, receipt]) => ({
  name: `the receipt hook ${name}`,
  options: { hooks: { receipt: () => receipt() as never } },
  fine: [200],
}))

const otherStores: Misbehaviour[] = [
  ...table('a limit store', [200, 429, 500, 503], (answer) => ({
    groups: { default: { models: '*' as const, rate: { requests: '1000/min' } } },
    storage: {
      limits: { take: () => answer() as never, give: () => answer() as never, renew: () => answer() as never },
    },
  })),
  ...table('a usage store', [200, 500, 503], (answer) => ({
    storage: {
      usage: { append: () => answer() as never, list: () => answer() as never, summarise: () => answer() as never },
    },
  })),
]

export const misbehaviours: readonly Misbehaviour[] = [
  ...keyStores,
  ...authenticators,
  ...registries,
  ...providers,
  ...hooks,
  ...otherStores,
]
