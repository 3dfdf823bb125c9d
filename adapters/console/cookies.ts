import { header, type Exchange } from '../../src/http/exchange.ts'

/** The value of a cookie of a request; undefined without it. */
export function cookieOf(exchange: Exchange, name: string): string | undefined {
  const pairs = (header(exchange, 'cookie') ?? '').split(/;\s*/)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
