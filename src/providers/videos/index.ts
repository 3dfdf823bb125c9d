/** `modelhatch/providers/videos`: vendors that make videos alone. Loads no other vendor. */
export { gatewayVideo, openaiVideo, seedanceVideo, xaiVideo, type VideoVendorOptions } from './videos.ts'
