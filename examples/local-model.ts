/**
 * A real language model in one file: the checkpoint and vocabulary formats of karpathy's llama2.c, in plain TypeScript
 * without dependencies. It continues a story that begins with the user's last message.
 *
 *     LOCAL_WEIGHTS=stories260K.bin LOCAL_VOCABULARY=tok512.bin npm run example examples/local-model.ts
 */
// oxlint-disable typescript/no-unnecessary-type-assertion -- tables are read at places that are known to be there
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setImmediate as breathe } from 'node:timers/promises'
import { createGateway, GatewayError } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { defineProvider, finish, text, turnText } from 'modelhatch/providers'
import { welcome } from './welcome.ts'

/** The provider: everything below it is the model. */
function localModel(weights: Buffer, vocabulary: Buffer) {
  const model = new Transformer(weights)
  const words = new Vocabulary(vocabulary, model.size.vocabulary)
  return defineProvider({
    name: 'local',
    async *generate({ request, signal }) {
      const { turns, tools, output, settings } = request
      const { max: limit = Infinity, temperature = 1, topP = 1, seed = Math.random() * 2 ** 32 } = settings
      if (tools.length > 0) throw new GatewayError('unsupported_parameter', { param: 'tools' })
      if (output !== undefined) throw new GatewayError('unsupported_parameter', { param: 'output' })
      if (settings.logprobs !== undefined)
        throw new GatewayError('unsupported_parameter', { param: 'settings.logprobs' })
      if (settings.choices !== undefined && settings.choices > 1) {
        throw new GatewayError('unsupported_parameter', { param: 'settings.choices' })
      }
      const last = turns.findLast(({ role }) => role === 'user')
      if (last?.blocks.some(({ kind }) => kind !== 'text')) {
        throw new GatewayError('unsupported_value', { param: last.place ?? 'turns' })
      }
      const prompt = words.encode(turnText(last))
      if (prompt.length >= model.size.context) throw new GatewayError('context_length_exceeded')
      const choose = sampler(temperature, topP, seed)
      const decoder = new TextDecoder()
      const run = model.begin()
      let [token, count, reason]: [number, number, 'stop' | 'length'] = [prompt[0]!, 0, 'length']
      for (let at = 0; at < model.size.context && count < limit && reason === 'length'; at++) {
        // Yields to the event loop after each token, and stops when the client has disconnected.
        await breathe()
        signal.throwIfAborted()
        const [last, logits] = [token, run(token, at)]
        token = prompt[at + 1] ?? choose(logits)
        if (at + 1 < prompt.length) continue
        const ended = token === 1 || token === 2
        if (!ended) count++
        if (ended) reason = 'stop'
        else yield text(decoder.decode(words.decode(token, last), { stream: true }))
      }
      yield finish(reason, {
        prompt_tokens: prompt.length,
        completion_tokens: count,
        total_tokens: prompt.length + count,
      })
    },
  })
}

/** Picks a token: the most likely at temperature 0, otherwise at random among the most likely that add up to `topP`. */
function sampler(temperature: number, topP: number, seed: number): (logits: Float32Array) => number {
  const random = generator(seed)
  return (logits) => {
    const likeliest = logits.indexOf(Math.max(...logits))
    if (temperature === 0) return likeliest
    const top = logits[likeliest]!
    const chances = Array.from(logits, (logit, token) => ({ token, chance: Math.exp((logit - top) / temperature) }))
    chances.sort((left, right) => right.chance - left.chance)
    const all = chances.reduce((sum, { chance }) => sum + chance, 0)
    let sum = 0
    const count = chances.findIndex(({ chance }) => (sum += chance) >= all * topP) + 1 || chances.length
    let drawn = random() * chances.slice(0, count).reduce((total, { chance }) => total + chance, 0)
    return chances.slice(0, count).find(({ chance }) => (drawn -= chance) < 0)?.token ?? likeliest
  }
}

/** mulberry32: the same seed gives the same story. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Pieces of text and their scores. Tokens 3 to 258 are single bytes; 1 begins a text. */
class Vocabulary {
  readonly #pieces: Buffer[] = []
  readonly #scores: number[] = []
  readonly #tokens = new Map<string, number>()

  constructor(file: Buffer, size: number) {
    for (let token = 0, at = 4; token < size; token++) {
      const length = file.readInt32LE(at + 4)
      const piece = file.subarray(at + 8, at + 8 + length)
      const byte = /^<0x([0-9A-F]{2})>$/.exec(piece.toString('latin1'))?.[1]
      this.#pieces.push(byte === undefined ? piece : Buffer.from(byte, 'hex'))
      this.#scores.push(file.readFloatLE(at))
      this.#tokens.set(piece.toString('latin1'), token)
      at += 8 + length
    }
  }

  /** Starts with characters or bytes and merges the neighbours with the best score until none can be merged. */
  encode(text: string): number[] {
    const tokens = [1]
    if (text !== '') tokens.push(this.#tokens.get(' ')!)
    for (const character of text) {
      const bytes = Buffer.from(character)
      const whole = this.#tokens.get(bytes.toString('latin1'))
      tokens.push(...(whole === undefined ? [...bytes].map((byte) => byte + 3) : [whole]))
    }
    for (;;) {
      let best: { at: number; token: number; score: number } | undefined
      for (let at = 0; at + 1 < tokens.length; at++) {
        const joined = this.#text(tokens[at]) + this.#text(tokens[at + 1])
        const token = this.#tokens.get(joined)
        const score = token === undefined ? -Infinity : this.#scores[token]!
        if (token !== undefined && score > (best?.score ?? -Infinity)) best = { at, token, score }
      }
      if (best === undefined) return tokens
      tokens.splice(best.at, 2, best.token)
    }
  }

  /** Returns bytes, because one character may be split over several tokens. */
  decode(token: number, before: number): Buffer {
    const piece = this.#pieces[token]!
    return before === 1 && piece[0] === 0x20 ? piece.subarray(1) : piece
  }

  #text(token: number | undefined): string {
    return this.#pieces[token!]!.toString('latin1')
  }
}

type Layer = Record<'attNorm' | 'wq' | 'wk' | 'wv' | 'wo' | 'ffNorm' | 'w1' | 'w2' | 'w3', Float32Array>

/** Llama 2: RMS norm, rotary positions, grouped attention, SwiGLU. */
class Transformer {
  readonly size: Record<'dim' | 'hidden' | 'layers' | 'heads' | 'kvHeads' | 'vocabulary' | 'context', number>
  readonly #embedding: Float32Array
  readonly #layers: readonly Layer[]
  readonly #finalNorm: Float32Array

  constructor(file: Buffer) {
    const read = (place: number) => file.readInt32LE(place * 4)
    const [dim, hidden, layers, heads, kvHeads] = [read(0), read(1), read(2), read(3), read(4)]
    const [vocabulary, context] = [read(5), read(6)]
    if (dim <= 0 || vocabulary <= 0)
      throw new TypeError('This is no checkpoint of llama2.c with a shared output matrix.')
    this.size = { dim, hidden, layers, heads, kvHeads, vocabulary, context }
    const floats = new Float32Array(new Uint8Array(file.subarray(28)).buffer)
    let at = 0
    const take = (length: number) => floats.subarray(at, (at += length))
    const each = (length: number) => Array.from({ length: layers }, () => take(length))
    const kvDim = (dim / heads) * kvHeads
    this.#embedding = take(vocabulary * dim)
    // The file holds each kind of weight for all layers together.
    const kinds: Record<keyof Layer, Float32Array[]> = {
      attNorm: each(dim),
      wq: each(dim * dim),
      wk: each(kvDim * dim),
      wv: each(kvDim * dim),
      wo: each(dim * dim),
      ffNorm: each(dim),
      w1: each(hidden * dim),
      w2: each(dim * hidden),
      w3: each(hidden * dim),
    }
    this.#layers = Array.from({ length: layers }, (_, layer) => {
      return Object.fromEntries(Object.entries(kinds).map(([kind, blocks]) => [kind, blocks[layer]])) as Layer
    })
    this.#finalNorm = take(dim)
  }

  /** Begins a text. The function takes a token and its position, and returns a score for each possible next token. */
  begin(): (token: number, position: number) => Float32Array {
    const { dim, hidden, heads, kvHeads, vocabulary, context } = this.size
    const head = dim / heads
    const kvDim = head * kvHeads
    const caches = this.#layers.map(
      () => [new Float32Array(context * kvDim), new Float32Array(context * kvDim)] as const,
    )
    return (token, position) => {
      const x = this.#embedding.slice(token * dim, (token + 1) * dim)
      this.#layers.forEach((layer, index) => {
        const seen = norm(x, layer.attNorm)
        const query = rotate(times(layer.wq, seen, dim), position, head)
        const [keys, values] = caches[index]!
        keys.set(rotate(times(layer.wk, seen, kvDim), position, head), position * kvDim)
        values.set(times(layer.wv, seen, kvDim), position * kvDim)
        const attended = new Float32Array(dim)
        for (let h = 0; h < heads; h++) {
          const from = Math.floor((h * kvHeads) / heads) * head
          const weights = new Float32Array(position + 1)
          for (let t = 0; t <= position; t++) {
            for (let i = 0; i < head; i++) weights[t]! += query[h * head + i]! * keys[t * kvDim + from + i]!
            weights[t]! /= Math.sqrt(head)
          }
          softmax(weights)
          for (let t = 0; t <= position; t++) {
            for (let i = 0; i < head; i++) attended[h * head + i]! += weights[t]! * values[t * kvDim + from + i]!
          }
        }
        add(x, times(layer.wo, attended, dim))
        const fed = norm(x, layer.ffNorm)
        const gate = times(layer.w1, fed, hidden)
        const up = times(layer.w3, fed, hidden)
        add(
          x,
          times(
            layer.w2,
            gate.map((value, i) => (value / (1 + Math.exp(-value))) * up[i]!),
            dim,
          ),
        )
      })
      return times(this.#embedding, norm(x, this.#finalNorm), vocabulary)
    }
  }
}

/** A matrix of `rows` rows times a vector. */
function times(matrix: Float32Array, vector: Float32Array, rows: number): Float32Array {
  const out = new Float32Array(rows)
  for (let row = 0, at = 0; row < rows; row++) {
    let sum = 0
    for (let column = 0; column < vector.length; column++) sum += matrix[at++]! * vector[column]!
    out[row] = sum
  }
  return out
}

function add(to: Float32Array, other: Float32Array): void {
  for (let i = 0; i < to.length; i++) to[i]! += other[i]!
}

function norm(x: Float32Array, weight: Float32Array): Float32Array {
  const squares = x.reduce((sum, value) => sum + value * value, 0)
  const scale = 1 / Math.sqrt(squares / x.length + 1e-5)
  return x.map((value, i) => value * scale * weight[i]!)
}

/** Rotates neighbouring pairs by an angle that encodes the position. */
function rotate(x: Float32Array, position: number, head: number): Float32Array {
  for (let i = 0; i < x.length; i += 2) {
    const angle = position / 10_000 ** ((i % head) / head)
    const [a, b] = [x[i]!, x[i + 1]!]
    x[i] = a * Math.cos(angle) - b * Math.sin(angle)
    x[i + 1] = a * Math.sin(angle) + b * Math.cos(angle)
  }
  return x
}

function softmax(x: Float32Array): void {
  const top = Math.max(...x)
  const sum = x.reduce((all, value, i) => all + (x[i] = Math.exp(value - top)), 0)
  for (let i = 0; i < x.length; i++) x[i]! /= sum
}

const { LOCAL_WEIGHTS, LOCAL_VOCABULARY, PORT = '3000' } = process.env
if (LOCAL_WEIGHTS === undefined || LOCAL_VOCABULARY === undefined) {
  throw new Error('Set LOCAL_WEIGHTS and LOCAL_VOCABULARY to a checkpoint of llama2.c and its vocabulary.')
}
const local = localModel(readFileSync(LOCAL_WEIGHTS), readFileSync(LOCAL_VOCABULARY))
const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { local } })
const server = createServer(mount(gateway))
server.listen(Number(PORT), '127.0.0.1', () => welcome(server, 'sk-demo', 'local'))

process.once('SIGTERM', () => void gateway.close().then(() => server.close()))
process.once('SIGINT', () => void gateway.close().then(() => server.close()))
