/** Plug-ins that break their contracts in every way we could think of, and what the client is to see of it. */
import { GatewayError, type Exchange, type GatewayOptions } from 'modelhatch'

export interface Misbehaviour {
  readonly name: string
  readonly options: Partial<GatewayOptions>
  /** What is asked for. Default: a chat, streamed and whole. */
  readonly target?: '/v1/models' | '/v1/models/small'
  /** Statuses that are fine; 200 means a whole answer, or a stream that ends as it should. */
  readonly fine: readonly number[]
  /** The answer may never end: it is the client who gives up. */
  readonly endless?: boolean
}

const never = new Promise<never>(() => undefined)
const evil = () => {
  throw new Error('sk-secret evil')
}
const evilNothing = () => {
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
// oxlint-disable-next-line unicorn/no-thenable -- this is meant
const thenable = { then: (_: unknown, reject: (reason: unknown) => void) => reject(new Error('sk-secret evil')) }
const throwing = { get: evil, enumerable: true }
const trap = Object.defineProperties({}, { hash: throwing, account: throwing, id: throwing, name: throwing })
const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

/** Ways in which any function of a plug-in can fail. */
const failures: Readonly<Record<string, () => unknown>> = {
  throws: evil,
  'throws nothing': evilNothing,
  rejects: () => Promise.reject(new Error('sk-secret evil')),
  'rejects with nothing': () => Promise.reject(undefined),
  'rejects with what cannot be touched': () => Promise.reject(untouchable),
  'never answers': () => never,
  'gives what rejects when it is awaited': () => thenable,
}

/** Answers of a shape that nobody promised. */
const shapes: Readonly<Record<string, unknown>> = {
  null: null,
  'a number': 7,
  'a text': 'yes',
  true: true,
  'an empty object': {},
  'an empty list': [],
  'an object that throws': trap,
  'an object that points at itself': cyclic,
}

function table(part: string, fine: readonly number[], optionsFor: (answer: () => unknown) => Partial<GatewayOptions>) {
  return [
    ...Object.entries(failures).map(([name, answer]) => ({
      name: `${part} ${name}`,
      options: optionsFor(answer),
      fine,
    })),
    ...Object.entries(shapes).map(([name, value]) => ({
      name: `${part} gives ${name}`,
      options: optionsFor(() => value),
      fine,
    })),
  ]
}

const goodKey = { id: 'k', prefix: '', account: 'a', group: 'default', createdAt: 0, version: 1 }

const keyStores: Misbehaviour[] = [
  ...table('a key store', [401, 503], (answer) => ({ keys: {}, storage: { keys: { find: () => answer() as never } } })),
  {
    name: 'a key store gives the record of another key',
    options: { keys: {}, storage: { keys: { find: () => ({ ...goodKey, hash: '0'.repeat(64) }) } } },
    fine: [401, 503],
  },
  {
    name: 'a key store gives a record without account and group',
    options: { keys: {}, storage: { keys: { find: (hash: string) => ({ hash }) as never } } },
    fine: [401, 503],
  },
]

const authenticators: Misbehaviour[] = [
  ...table('authenticate()', [401, 503], (answer) => ({ authenticate: () => answer() as never })),
  {
    name: 'authenticate() gives a caller of the wrong types',
    options: { authenticate: () => ({ account: 1, group: {} }) as never },
    fine: [401, 503],
  },
  {
    name: 'authenticate() tampers with the exchange',
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
  ...table('a registry, asked for a model,', [404, 500, 503], (answer) => ({
    models: { find: () => answer() as never, list: () => [] },
  })),
  ...table('a registry, asked for its list,', [200, 500, 503], (answer) => ({
    models: { find: () => undefined, list: () => answer() as never },
  })).map((each) => ({ ...each, target: '/v1/models' as const })),
  {
    name: 'a registry gives a model whose deployments are nobody’s',
    options: {
      models: {
        find: () => ({ id: 'small', created: 0, ownedBy: '', deployments: [null, {}, { provider: null }] }) as never,
        list: () => [],
      },
    },
    fine: [500, 503],
  },
]

/** An answer to a chat that begins well. */
async function* beginning() {
  yield { choices: [{ index: 0, delta: { content: 'Hello' } }] }
}

function iterator(next: () => unknown, more: object = {}): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next, ...more }) as never }
}

/** Goes on badly after its first words, and then has nothing more to say. */
function afterwards(next: () => unknown, more: object = {}): () => AsyncIterable<never> {
  return () => {
    const first = { value: { choices: [{ index: 0, delta: { content: 'Hello' } }] }, done: false }
    const steps = [() => Promise.resolve(first), next]
    return iterator(() => (steps.shift() ?? (() => Promise.resolve({ value: undefined, done: true })))(), more)
  }
}

const once = (value: unknown) => () => Promise.resolve({ value, done: false })

const answers: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(Object.entries(shapes).map(([name, value]) => [`gives ${name}`, () => value])),
  ...failures,
  'gives an iterator of nothing': () => ({ [Symbol.asyncIterator]: () => undefined }),
  'gives an iterator that throws': () => ({ [Symbol.asyncIterator]: evil }),
  'gives a step that is none': () => iterator(() => Promise.resolve(undefined)),
  'throws in a step': () => iterator(evil),
  'yields null': () => iterator(once(null)),
  'yields what cannot be touched': () => iterator(once(untouchable)),
  'ends before it has begun': () => iterator(() => Promise.resolve({ value: undefined, done: true })),
  'throws after the first words': afterwards(evil),
  'throws nothing after the first words': afterwards(() => Promise.reject(undefined)),
  'yields null after the first words': afterwards(once(null)),
  'yields what is no JSON after the first words': afterwards(once({ choices: [{ index: 0, delta: { content: 7n } }] })),
  'yields itself after the first words': afterwards(once({ choices: [cyclic] })),
  'falls silent after the first words': afterwards(() => never),
  'throws when it is to stop': afterwards(() => Promise.resolve({ value: undefined, done: true }), { return: evil }),
  'hangs when it is to stop': afterwards(evil, { return: () => never }),
  'gives nonsense when it is to stop': afterwards(evil, { return: () => 7 }),
  'is late by some steps': afterwards(() => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 1))),
  'throws an error with headers that would split the answer': () => {
    const headers = {
      'x-evil': 'a\r\nset-cookie: b',
      'content-length': '1',
      'transfer-encoding': 'chunked',
      'b a d': 'c',
    }
    throw new GatewayError('server_error', { headers, retryAfterMs: NaN })
  },
  'throws an error with a status that is none': () => {
    throw Object.assign(new GatewayError('server_error'), { status: 7, toJSON: evil })
  },
  'throws an imitation of our errors': () => {
    throw { name: 'GatewayError', code: 'server_error', status: 200, message: untouchable, headers: 7 }
  },
  'throws what cannot be touched': () => {
    throw untouchable
  },
  'gives a completion without choices': () => ({ id: 'x', choices: null }),
  'gives an answer and goes on rejecting': () => {
    const rejected = Promise.reject(new Error('nobody waits for this'))
    rejected.catch(() => undefined)
    return beginning()
  },
}

const providers: Misbehaviour[] = Object.entries(answers).map(([name, chat]) => ({
  name: `a provider ${name}`,
  endless: name === 'falls silent after the first words',
  options: {
    models: { small: { name: 'evil', chat: () => chat() as never } },
    ...(/never|silent/.test(name) && { timeouts: { firstContentMs: 200 } }),
  },
  fine: [200, 500, 503],
}))

const hooks: Misbehaviour[] = Object.entries(failures).map(([name, receipt]) => ({
  name: `the hook for receipts ${name}`,
  options: { hooks: { receipt: () => receipt() as never } },
  fine: [200],
}))

const accountants: Misbehaviour[] = [
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
  ...accountants,
]
