/** `modelhatch/providers/videos`: vendors that make videos alone. Loads no other vendor. */
export {
  gatewayVideo,
  klingVideo,
  lumaVideo,
  minimaxVideo,
  openaiVideo,
  runwayVideo,
  seedanceVideo,
  xaiVideo,
  type KlingOptions,
  type VideoVendorOptions,
} from './videos.ts'
