import type { ImageAbilities } from './model-fields.ts'

/** Abilities of OpenAI's image models, for `image` of a model in the options. Source: OpenAI's images reference. */
export const imageModels: Readonly<Record<'dallE3' | 'dallE2' | 'gptImage1', ImageAbilities>> = {
  /** One image per request, square or 16:9. */
  dallE3: {
    sizes: ['1024x1024', '1792x1024', '1024x1792'],
    qualities: ['standard', 'hd', 'auto'],
    maxN: 1,
    edits: false,
    variations: false,
  },
  /** Square images in three sizes; supports edits and variations. */
  dallE2: { sizes: ['256x256', '512x512', '1024x1024'], qualities: ['standard', 'auto'] },
  /** Square or 3:2; supports edits. Returns base64 only. */
  gptImage1: {
    sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'],
    qualities: ['low', 'medium', 'high', 'auto'],
    responseFormat: false,
    variations: false,
  },
}
