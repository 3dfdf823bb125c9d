import type { VideoRequest } from '../../wire/video.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { Picture } from './video-options.ts'

/** The URL of the first frame. Throws a 400 for any other value, and for a data URL if the vendor fetches images. */
export function pictureUrl({ model }: VideoRequest, { field, url }: Picture, takesData: boolean): string {
  if (/^https?:\/\//i.test(url) || (takesData && /^data:image\//i.test(url))) return url
  const why = takesData ? 'send an image as a URL or a data URL.' : 'send the URL of an image.'
  throw unsupportedValue({ publicModel: model }, field, why)
}
