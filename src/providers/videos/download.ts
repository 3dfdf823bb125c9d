/** Downloads a file from a URL that a vendor returned. */
import { publicLookup, publicUrl } from '../../http/public-address.ts'
import { GatewayError } from '../../errors.ts'
import { Client, type ClientOptions } from '../client.ts'
import { unreadable } from '../failure.ts'
import type { VideoContent, VideoContext } from '../video.ts'
import { contentOf } from './content.ts'

const redirects = 5

/** `clientAt` returns the client for a URL, which is closed after the download, or throws if the URL is not allowed. */
export async function download(
  file: URL | null,
  { signal, range }: VideoContext & { readonly range?: string | undefined },
  clientAt: (url: URL) => Client,
): Promise<VideoContent> {
  let url = file
  for (let turn = 0; turn <= redirects && url !== null; turn++) {
    const client = clientAt(url)
    let body: VideoContent['body'] | undefined
    try {
      const path = url.pathname + url.search
      const transfer = await client.send({ method: 'GET', path, ...(range && { headers: { range } }), signal })
      const location = transfer.header('location')
      if (transfer.status < 300 || transfer.status >= 400 || location === undefined) {
        // File stores respond with a 403 to an expired URL.
        if (transfer.status === 403) throw transfer.fail(new GatewayError('not_found'))
        const content = await contentOf(transfer)
        body = closing(content.body, client)
        return { ...content, body }
      }
      url = URL.parse(location, url.href)
    } finally {
      if (body === undefined) await client.close()
    }
  }
  throw unreadable('the vendor returned an invalid URL of the file, or too many redirects', 'next')
}

/** A client without credentials. `inside` allows private addresses: only a vendor in our own network may name them. */
export function anonymousClient(
  url: URL,
  inside: boolean,
  options: Partial<Omit<ClientOptions, 'baseURL'>> = {},
): Client {
  const allowed = inside ? /^https?:$/.test(url.protocol) : url.protocol === 'https:' && publicUrl(url.href)
  if (!allowed) throw unreadable("the URL of the vendor's file must be public and https", 'next')
  return new Client({ ...options, baseURL: url.origin, headers: {} }, inside ? undefined : publicLookup())
}

async function* closing(body: AsyncIterable<Uint8Array>, client: Client): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } finally {
    await client.close()
  }
}
