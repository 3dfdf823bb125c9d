/** The features of the other endpoints, with the evidence that a vendor received each: the last rows of the guide's table. */
import { toFile, type OpenAI } from 'openai'
import type { Vendor } from './features.ts'

/** A request to a vendor, or the options of a model of the AI SDK. */
export interface MediaRequest {
  readonly url: string
  readonly text: string
}

export interface MediaFeature {
  readonly name: string
  readonly ask: (client: OpenAI, model: string) => Promise<unknown>
  /** The vendor's name for a model with the feature. */
  readonly models: Record<Vendor, string>
  readonly native: Partial<Record<Vendor, (sent: MediaRequest) => boolean>>
  readonly how?: string
}

const picture = () => toFile(Buffer.from('iVBORw0KGgo=', 'base64'), 'a.png', { type: 'image/png' })
const sound = () => toFile(Buffer.from('RIFF'), 'a.wav', { type: 'audio/wav' })
const holds =
  (url: string, ...words: string[]) =>
  (sent: MediaRequest) =>
    sent.url.includes(url) && words.every((word) => sent.text.includes(word))

const chatters = { anthropic: 'claude-opus-5', sdk: 'mock' }

export const mediaFeatures: readonly MediaFeature[] = [
  {
    name: 'embeddings',
    ask: (client, model) => client.embeddings.create({ model, input: 'a word' }),
    models: { ...chatters, openai: 'text-embedding-3-small', gemini: 'gemini-embedding-001' },
    native: {
      openai: holds('/embeddings', 'a word'),
      gemini: holds(':batchEmbedContents', 'a word'),
      sdk: holds('embedding', 'a word'),
    },
  },
  {
    name: 'moderations',
    ask: (client, model) => client.moderations.create({ model, input: 'a word' }),
    models: { ...chatters, openai: 'omni-moderation-latest', gemini: 'gemini-3-flash' },
    native: { openai: holds('/moderations', 'a word') },
  },
  {
    name: 'images',
    ask: (client, model) => client.images.generate({ model, prompt: 'a hatch' }),
    models: { ...chatters, openai: 'gpt-image-1', gemini: 'gemini-3-pro-image' },
    native: {
      openai: holds('/images/generations', 'a hatch'),
      gemini: holds(':generateContent', 'a hatch', 'IMAGE'),
      sdk: holds('image', 'a hatch'),
    },
  },
  {
    name: 'edits of images',
    ask: async (client, model) => client.images.edit({ model, prompt: 'bluer', image: await picture() }),
    models: { ...chatters, openai: 'gpt-image-1', gemini: 'gemini-3-pro-image' },
    native: {
      openai: holds('/images/edits', 'bluer', 'a.png'),
      gemini: holds(':generateContent', 'bluer', 'iVBORw0KGgo='),
      sdk: holds('image', 'bluer', 'image/png'),
    },
  },
  {
    name: 'variations of images',
    ask: async (client, model) => client.images.createVariation({ model, image: await picture() }),
    models: { ...chatters, openai: 'server-image', gemini: 'gemini-3-pro-image' },
    native: { openai: holds('/images/variations', 'a.png') },
    how: '`openai`: servers with OpenAI’s endpoint; OpenAI’s own was for DALL·E 2 only',
  },
  {
    name: 'rerank',
    ask: (client, model) => client.post('/rerank', { body: { model, query: 'a word', documents: ['a', 'b'] } }),
    models: { ...chatters, openai: 'reranker', gemini: 'gemini-3-flash' },
    native: { openai: holds('/rerank', 'a word'), sdk: holds('reranking', 'a word') },
    how: 'servers with it, as the presets `openrouter`, `together`, `vllm` and `llamacpp`; Cohere, Jina, Voyage and TEI have providers of their own',
  },
  {
    name: 'decisions',
    ask: (client, model) =>
      client.decisions.create({
        model,
        input: 'a word',
        questions: [{ type: 'predicate', instructions: 'It is one.' }],
      }),
    models: { ...chatters, openai: 'gpt-6-luna', gemini: 'gemini-3-flash' },
    native: { openai: holds('/decisions', 'a word', 'It is one.') },
    how: 'OpenAI, and servers with its endpoint',
  },
  {
    name: 'speech',
    ask: (client, model) =>
      client.audio.speech.create({ model, input: 'a word', voice: 'Kore', response_format: 'wav' }),
    models: { ...chatters, openai: 'tts-1', gemini: 'gemini-3.8-flash-tts' },
    native: {
      openai: holds('/audio/speech', 'a word', 'Kore'),
      gemini: holds(':streamGenerateContent', 'a word', 'AUDIO', 'Kore'),
      sdk: holds('speech', 'a word', 'Kore'),
    },
    how: 'ElevenLabs and MiniMax have providers of their own',
  },
  {
    name: 'transcriptions',
    ask: async (client, model) => client.audio.transcriptions.create({ model, file: await sound() }),
    models: { ...chatters, openai: 'whisper-1', gemini: 'gemini-3-flash' },
    native: { openai: holds('/audio/transcriptions', 'a.wav'), sdk: holds('transcription', 'audio/wav') },
  },
  {
    name: 'translations of speech',
    ask: async (client, model) => client.audio.translations.create({ model, file: await sound() }),
    models: { ...chatters, openai: 'whisper-1', gemini: 'gemini-3-flash' },
    native: { openai: holds('/audio/translations', 'a.wav') },
    how: 'not with the presets `mistral` and `openrouter`',
  },
  {
    name: 'videos',
    ask: (client, model) => client.videos.create({ model, prompt: 'a hatch', seconds: '4' }),
    models: { ...chatters, openai: 'sora-2', gemini: 'gemini-omni-1.1-flash' },
    native: {
      gemini: holds('/interactions', 'a hatch', '4s'),
      openai: holds('/videos', 'a hatch', '"seconds":"4"'),
      sdk: holds('video', 'a hatch', '"duration":4'),
    },
    how: '`openai`: servers with OpenAI’s video API; xAI and Seedance have providers of their own',
  },
]
