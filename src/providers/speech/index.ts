/** `modelhatch/providers/speech`: vendors that speak alone. Loads no other vendor. */
export { elevenlabs } from './elevenlabs.ts'
export { minimaxSpeech } from './minimax.ts'
export type { SimpleVendorOptions } from '../simple-vendor.ts'
