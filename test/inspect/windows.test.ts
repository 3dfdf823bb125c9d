/** What one inspector sees of an answer, when it passes on, and what becomes of signatures, citations and probabilities. */
import { limitTools, mask, moderate, type AnswerWindow, type InspectedCall, type Inspector } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { describe, expect, test, vi } from 'vitest'
import type { Conversation } from '../../src/conversation/conversation.ts'
import type { Part } from '../../src/conversation/parts.ts'
import { AnswerStage } from '../../src/inspect/answer-stage.ts'
import { inspected } from '../../src/inspect/inspected.ts'
import { Inspection } from '../../src/inspect/inspection.ts'
import { cpuMs, leastMs } from '../cpu-time.ts'
import { vendorFor } from '../hosted.ts'

const call: InspectedCall = { id: 'req_1', endpoint: 'e', model: 'm', caller: { account: 'a', group: 'g' } }
const asking = {
  call,
  failed(error: unknown) {
    throw error
  },
}

const text = (piece: string, block = 0, choice = 0): Part => ({ kind: 'text', choice, block, text: piece })
const end: Part = { kind: 'end', choice: 0, end: { reason: 'stop' } }

function stageOf(inspector: Inspector, choices = 1): AnswerStage {
  return new AnswerStage(inspector, asking, { isJson: false, choices })
}

async function passed(inspector: Inspector, parts: readonly Part[], choices?: number): Promise<Part[]> {
  const stage = stageOf(inspector, choices)
  const out: Part[] = []
  for (const part of parts) out.push(...(await stage.take([part])))
  return [...out, ...(await stage.end())]
}

const wordOf = (parts: readonly Part[]) => parts.map((part) => ('text' in part ? part.text : '')).join('')

/** Replaces a word by another one. */
const replacing = (word: string, instead: string, more: Partial<Inspector> = {}): Inspector => ({
  answer({ text: said }) {
    const start = said.indexOf(word)
    return start < 0 ? undefined : { edits: [{ start, end: start + word.length, text: instead }] }
  },
  ...more,
})

describe('a window', () => {
  test('has what was held back and what has arrived, never more than the hold-back and one arrival', async () => {
    const seen: string[] = []
    const watching: Inspector = {
      answer: ({ text: said }) => void seen.push(said),
      holdBack: { characters: 4, ms: Infinity },
    }
    const out = await passed(watching, [text('abc'), text('def'), text('ghijkl'), end])
    expect(seen).toEqual(['abc', 'abcdef', 'cdefghijkl', 'ijkl'])
    expect(wordOf(out)).toBe('abcdefghijkl')
  })

  test('is one for all pieces that arrive together', async () => {
    const seen: AnswerWindow[] = []
    const stage = stageOf({ answer: (window) => (seen.push(window), { hold: 0 }) })
    await stage.take([text('a'), text('b'), text('c', 1)])
    expect(seen.map(({ text: said, block, ended }) => [said, block, ended])).toEqual([
      ['ab', 0, false],
      ['', 0, true],
      ['c', 1, false],
    ])
  })

  test('never parts the halves of a character', async () => {
    const out = await passed({ answer: () => undefined, holdBack: { characters: 1, ms: Infinity } }, [
      text('a😀b'),
      end,
    ])
    for (const part of out) if ('text' in part) expect(part.text).toBe(part.text.toWellFormed())
    expect(wordOf(out)).toBe('a😀b')
  })

  test('is passed on if what follows takes too long', async () => {
    vi.useFakeTimers()
    try {
      async function* source(): AsyncGenerator<readonly Part[], void, void> {
        yield [text('half a wo')]
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        yield [text('rd'), end]
      }
      const stage = stageOf({ answer: () => undefined, holdBack: { characters: 64, ms: 50 } })
      const out = inspected(source(), [stage])
      expect((await out.next()).value).toEqual([])
      const late = out.next()
      await vi.advanceTimersByTimeAsync(50)
      expect((await late).value).toEqual([text('half a wo')])
      const rest = out.next()
      await vi.advanceTimersByTimeAsync(1_000)
      expect((await rest).value).toEqual([text('rd'), end])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('what is signed', () => {
  const state = { maker: 'm', data: 'signed' }
  const reasoning = (piece: string): Part => ({ kind: 'reasoning', choice: 0, block: 0, text: piece })
  const sign: Part = { kind: 'state', choice: 0, block: 0, state }
  const calling: Part = { kind: 'call', choice: 0, block: 0, id: '1', name: 'send', by: 'function', state }
  const input = (piece: string): Part => ({ kind: 'input', choice: 0, block: 0, text: piece })
  const ended: Part = { kind: 'ended', choice: 0, block: 0 }

  test('stays as it is, or goes without its signature', async () => {
    const parts = [reasoning('I know Bluebird'), sign, end]
    expect(await passed(replacing('nothing', 'x'), parts)).toContainEqual(sign)
    const changed = await passed(replacing('Bluebird', 'it'), parts)
    expect(wordOf(changed)).toBe('I know it')
    expect(changed).not.toContainEqual(sign)
  })

  test('so is a call, whose signature comes before its input', async () => {
    const parts = [calling, input('{"to":"Blue'), input('bird"}'), ended, end]
    expect(await passed(replacing('nothing', 'x'), parts)).toContainEqual(calling)
    const changed = await passed(replacing('Bluebird', 'it'), parts)
    expect(wordOf(changed)).toBe('{"to":"it"}')
    expect(changed[0]).not.toHaveProperty('state')
  })

  test('keeps its signature where the next request changes it back', async () => {
    const inspector = (mask({ key: 'k' }) as (of: InspectedCall) => Inspector)(call)
    const mail = 'ada@example.org'
    const signedTurn = (said: string): Conversation => ({
      turns: [
        { role: 'user', blocks: [{ kind: 'text', text: mail }] },
        { role: 'assistant', blocks: [{ kind: 'call', id: '1', name: 'send', by: 'function', input: said, state }] },
      ],
      tools: [],
      settings: {},
    })
    const asked = await new Inspection([inspector], asking).asked(signedTurn(`{"to":"${mail}"}`))
    const [sent] = asked.turns[1]?.blocks ?? []
    expect(sent).toMatchObject({ input: expect.stringMatching(/^\{"to":"EMAIL_[A-Z]{8}"\}$/) as string, state })
    const written = (sent as { input: string }).input
    const answered = await passed(inspector, [calling, input(written), ended, end])
    expect(answered).toContainEqual(calling)
    expect(wordOf(answered)).toBe(`{"to":"${mail}"}`)
  })

  test('reasoning of a request that is changed loses its signature, and any other inspector breaks each', async () => {
    const blocks = (said: string) =>
      [
        { kind: 'reasoning', text: said, state },
        { kind: 'text', text: said, state: { maker: 'm', data: 'other' } },
      ] as const
    const conversation = (said: string): Conversation => ({
      turns: [{ role: 'assistant', blocks: blocks(said) }],
      tools: [],
      settings: {},
    })
    const masking = new Inspection([(mask() as (of: InspectedCall) => Inspector)(call)], asking)
    const [thought, said] = (await masking.asked(conversation('a@example.org'))).turns[0]?.blocks ?? []
    expect(thought).not.toHaveProperty('state')
    expect(said).toHaveProperty('state')
    const other = new Inspection([{ request: () => ({ conversation: conversation('else') }) }], asking)
    for (const block of (await other.asked(conversation('this'))).turns[0]?.blocks ?? [])
      expect(block).not.toHaveProperty('state')
    const same = new Inspection([{ request: () => ({ conversation: conversation('this') }) }], asking)
    const given = conversation('this')
    expect((await same.asked(given)).turns).toEqual(given.turns)
  })
})

test('a changed text has citations of all of it, and no probabilities', async () => {
  const logprobs = [{ token: 'Bluebird', logprob: 0 }]
  const cited: Part = { kind: 'citation', choice: 0, block: 0, citation: { url: 'u', range: { start: 3, end: 9 } } }
  const said: Part = { kind: 'text', choice: 0, block: 0, text: 'A Bluebird', logprobs }
  expect(await passed(replacing('Bluebird', 'x', { holdBack: { characters: 0 } }), [said, cited, end])).toEqual([
    text('A x'),
    { ...cited, citation: { url: 'u' } },
    end,
  ])
})

test('a cut ends one choice of several; the others go on', async () => {
  const cutting: Inspector = { answer: ({ text: said }) => (said.includes('bad') ? { cut: '' } : { hold: 0 }) }
  const out = await passed(cutting, [text('good', 0), text('bad', 1, 1), text(' more', 0), text('!', 1, 1), end], 2)
  expect(out).toEqual([text('good', 0), { kind: 'end', choice: 1, end: { reason: 'filter' } }, text(' more', 0), end])
})

test('a call that is cut is complete, so that its client does not wait for more', async () => {
  const cutting: Inspector = { answer: ({ text: said }) => (said.includes('rm') ? { cut: 'No.' } : { hold: 0 }) }
  const begun: Part = { kind: 'call', choice: 0, block: 0, id: '1', name: 'run', by: 'function' }
  const input = (piece: string): Part => ({ kind: 'input', choice: 0, block: 0, text: piece })
  expect(await passed(cutting, [begun, input('{"a":"'), input('rm"}'), end])).toEqual([
    begun,
    input('{"a":"'),
    { kind: 'ended', choice: 0, block: 0 },
    { kind: 'refusal', choice: 0, block: 1, text: 'No.' },
    { kind: 'end', choice: 0, end: { reason: 'filter' } },
  ])
})

test('masks put JSON into JSON, and mask answers for good if asked to', async () => {
  const quoted = { name: 'QUOTE', pattern: /"[^"]*"/g }
  const inspector = (mask({ patterns: [quoted] }) as (of: InspectedCall) => Inspector)(call)
  const words: Conversation = {
    turns: [{ role: 'user', blocks: [{ kind: 'text', text: 'say "a\nb"' }] }],
    tools: [],
    settings: {},
  }
  const [block] = (await new Inspection([inspector], asking).asked(words)).turns[0]?.blocks ?? []
  const placeholder = /QUOTE_[A-Z]{8}/.exec((block as { text: string }).text)?.[0] ?? ''
  const begun: Part = { kind: 'call', choice: 0, block: 0, id: '1', name: 'say', by: 'function' }
  const out = await passed(inspector, [
    begun,
    { kind: 'input', choice: 0, block: 0, text: `{"x":"${placeholder}"}` },
    end,
  ])
  expect(JSON.parse(wordOf(out))).toEqual({ x: '"a\nb"' })
  const both = (mask({ answers: true }) as (of: InspectedCall) => Inspector)(call)
  const answer = Array.from('My card is 4111 1111 1111 1111, my mail bob@example.org.', (each) => text(each))
  expect(wordOf(await passed(both, [...answer, end]))).toBe('My card is [CARD], my mail [EMAIL].')
})

test('a mask says which pattern is wrong', () => {
  expect(() => mask({ patterns: ['cards' as never] })).toThrow(
    'mask: there is no pattern "cards". The patterns are key, email, iban, card, phone.',
  )
  expect(() => mask({ patterns: [{ name: 'no', pattern: /x/g }] })).toThrow(/capital letters/)
  expect(() => mask({ patterns: [{ name: 'NO', pattern: /x/ }] })).toThrow(/flag "g"/)
})

test.each([{ key: '' }, { key: undefined }])('a mask refuses the key of a variable that is not set: %j', (options) => {
  expect(() => mask(options)).toThrow(/^mask: "key" must be a non-empty string: is a variable unset\? Omit it/)
})

test('limits of tools refuse an option that they do not know, which would let every tool pass', () => {
  expect(() => limitTools({ alow: ['search'] } as never)).toThrow('limitTools: unknown option "alow"')
  expect(() => limitTools({ allow: 'search' as never })).toThrow('limitTools: "allow" must be an array of strings')
  expect(() => limitTools({ others: 'reject' as never })).toThrow('limitTools: "others" must be one of remove, refuse')
})

describe('limits of tools', () => {
  const tool = (name: string) => ({ kind: 'function', name }) as const
  const conversation: Conversation = {
    turns: [],
    tools: [tool('search_web'), tool('send'), { kind: 'own', format: 'responses', type: 'web_search', value: {} }],
    toolChoice: { name: 'send' },
    settings: {},
  }

  test('remove the others, or refuse the request', async () => {
    const limited = new Inspection([limitTools({ allow: ['search*', 'web_search'] })], asking)
    const { tools, toolChoice } = await limited.asked(conversation)
    expect(tools.map((each) => (each.kind === 'own' ? each.type : each.name))).toEqual(['search_web', 'web_search'])
    expect(toolChoice).toBeUndefined()
    const strict = new Inspection([limitTools({ deny: ['send'], others: 'refuse' })], asking)
    await expect(strict.asked(conversation)).rejects.toMatchObject({ status: 400, message: /"send" is not allowed/ })
  })

  test('end an answer that calls another one', async () => {
    const begun = (name: string): Part => ({ kind: 'call', choice: 0, block: 0, id: '1', name, by: 'function' })
    const limits = limitTools({ allow: ['search*'] })
    expect(await passed(limits, [begun('search_web'), end])).toEqual([begun('search_web'), end])
    expect(await passed(limits, [begun('send'), end])).not.toContainEqual(begun('send'))
  })
})

describe('moderation', () => {
  async function moderated(answers: boolean) {
    const vendor = await vendorFor(({ json }, response) => {
      const said = JSON.stringify((json as { input: unknown }).input)
      const categories = { violence: said.includes('bomb'), hate: said.includes('hate') }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ id: 'm', model: 'x', results: [{ flagged: said.includes('bomb'), categories }] }))
    })
    const provider = openai({ baseURL: vendor.baseURL, apiKey: 'k' })
    return { vendor, inspector: moderate({ provider, answers, categories: ['violence'] }) }
  }
  const saying = (said: string): Conversation => ({
    turns: [
      { role: 'user', blocks: [{ kind: 'text', text: 'an old bomb' }] },
      { role: 'assistant', blocks: [{ kind: 'text', text: 'No.' }] },
      {
        role: 'user',
        blocks: [
          { kind: 'text', text: said },
          { kind: 'media', type: 'image', source: { url: 'https://i/1' } },
        ],
      },
    ],
    tools: [],
    settings: {},
  })

  test('refuses what is flagged of the last words, with their images', async () => {
    const { vendor, inspector } = await moderated(false)
    const inspection = new Inspection([inspector], asking)
    expect(await inspection.asked(saying('hello'))).toEqual(saying('hello'))
    expect(vendor.requests[0]?.json).toMatchObject({
      model: 'omni-moderation-latest',
      input: [{ type: 'text', text: 'hello' }, { type: 'image_url' }],
    })
    await expect(inspection.asked(saying('a bomb'))).rejects.toMatchObject({ code: 'content_policy_violation' })
  })

  test('lets answers pass in pieces, and ends them', async () => {
    const { vendor, inspector } = await moderated(true)
    const good = Array.from({ length: 30 }, () => text('a'.repeat(100)))
    expect(wordOf(await passed(inspector, [...good, end]))).toHaveLength(3_000)
    expect(vendor.requests).toHaveLength(3)
    const out = await passed(inspector, [text('a bomb'), end])
    expect(out.map(({ kind }) => kind)).toEqual(['refusal', 'end'])
  })

  test('needs a provider that can', () => {
    expect(() => moderate({ provider: { name: 'mute' } })).toThrow('the provider "mute" cannot moderate')
  })
})

const worst: Readonly<Record<string, string>> = {
  'groups of digits': '11 22 ',
  digits: '1',
  'beginnings of bank accounts': 'AB12x ',
  'bank accounts that are none': 'DE89 3704 0044 0532 0130 01 ',
  words: 'AB12xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ',
  'beginnings of addresses': 'a@b.',
  'addresses without an end': 'a@b-',
  'beginnings of tokens': 'eyJ-',
  'beginnings of keys': '-----BEGIN PRIVATE KEY-----',
  'numbers of phones': '+1 ',
}

test.each(Object.entries(worst))('a megabyte of %s is read in less than 1.5 s', async (_, piece) => {
  const said = piece.repeat(Math.ceil(1_000_000 / piece.length))
  const inspector = (mask() as (of: InspectedCall) => Inspector)(call)
  const turns = [{ role: 'user', blocks: [{ kind: 'text', text: said }] }] as const
  const took = await leastMs(1_500, async () => {
    const before = cpuMs()
    await inspector.request?.({ turns, tools: [], settings: {} }, call)
    return cpuMs() - before
  })
  expect(took).toBeLessThan(1_500)
})

test('a megabyte of an answer is masked in less than 1.5 s', async () => {
  const inspector = (mask({ answers: true }) as (of: InspectedCall) => Inspector)(call)
  const said = 'ada@example.org '.repeat(62_500)
  const window = { kind: 'text', text: said, ended: true, isJson: false, choice: 0, block: 0 } as const
  const took = await leastMs(1_500, async () => {
    const before = cpuMs()
    await inspector.answer?.(window, call)
    return cpuMs() - before
  })
  expect(took).toBeLessThan(1_500)
})

test('a mask of all patterns takes less than 0.2 ms of CPU a chunk', async () => {
  const inspector = (mask({ answers: true }) as (of: InspectedCall) => Inspector)(call)
  const mails = Array.from({ length: 100 }, (_, at) => `user${at}@example.org`).join(' ')
  await new Inspection([inspector], asking).asked({
    turns: [{ role: 'user', blocks: [{ kind: 'text', text: mails }] }],
    tools: [],
    settings: {},
  })
  const chunks = Array.from({ length: 2_000 }, (_, at) => text(` word ${at} and +49 170 1234567, so`))
  const each = await leastMs(0.2, async () => {
    const stage = stageOf(inspector)
    const before = cpuMs()
    for (const chunk of chunks) await stage.take([chunk])
    return (cpuMs() - before) / chunks.length
  })
  expect(each).toBeLessThan(0.2)
})
