/** The files of the page: scripts, a style sheet, an icon and the licences of its libraries. */
import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { header, type Exchange, type Reply } from '../../src/http/exchange.ts'
import { version } from '../../src/http/version.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

interface Asset {
  readonly type: string
  readonly plain: Uint8Array
  /** By the name of the encoding, the smallest first. */
  readonly packed: ReadonlyMap<string, Uint8Array>
}

/** The files by name, such as `main.js`, and the version that their URLs contain. */
export interface Assets {
  /** The version of the package and a digest of all files, such as `1.2.3-0a1b2c3d`. */
  readonly version: string
  /** The files by their path. */
  readonly files: ReadonlyMap<string, Asset>
}

/** Compresses all files: once per site. */
export async function loadAssets(page: ReadonlyMap<string, Uint8Array>): Promise<Assets> {
  const digest = createHash('sha256')
  const files = new Map<string, Asset>()
  for (const [path, plain] of [...page].sort(([a], [b]) => (a < b ? -1 : 1))) {
    digest.update(path).update(plain)
    const type = types[extname(path)] as string
    const packed = await Promise.all([promisify(brotliCompress)(plain), promisify(gzip)(plain, { level: 9 })])
    files.set(path, {
      type,
      plain,
      packed: new Map([
        ['br', packed[0]],
        ['gzip', packed[1]],
      ]),
    })
  }
  return { version: `${version}-${digest.digest('hex').slice(0, 8)}`, files }
}

/**
 * The reply with a file. `version` is the one in the URL: during a rolling deployment, a page of the other version may ask,
 * and no cache must keep what it gets.
 */
export function assetReply(assets: Assets, version: string, path: string, exchange: Exchange): Reply | undefined {
  const asset = assets.files.get(path)
  if (asset === undefined) return undefined
  const accepted = header(exchange, 'accept-encoding') ?? ''
  const encoding = [...asset.packed.keys()].find((name) => accepts(accepted, name))
  return {
    status: 200,
    headers: {
      'content-type': asset.type,
      'cache-control': version === assets.version ? 'private, max-age=31536000, immutable' : 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
    },
    body: asset.packed.get(encoding ?? '') ?? asset.plain,
  }
}

function accepts(accepted: string, encoding: string): boolean {
  return new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))`).test(accepted)
}
