/** Calls and results of tools that ran at the vendor, as state that clients of other formats send back to it. */
import { objectOf } from '../../conversation/json.ts'
import type { Fields, State } from '../../conversation/conversation.ts'

const prefix = 'blocks.'

/** MCP servers are not asked for other clients. */
const hosted = /^(?:server_tool_use|(?!mcp_)\w+_tool_result)$/

/** Undefined for any other block. */
export function stateOfHosted(maker: string, block: Fields): State | undefined {
  if (!isHosted(block)) return undefined
  return { maker, data: prefix + Buffer.from(JSON.stringify(block)).toString('base64url') }
}

/** The block in a state; undefined in any other state. Clients can change states, so only blocks of this kind are read. */
export function hostedIn(data: string): Fields | undefined {
  if (!data.startsWith(prefix)) return undefined
  const block = objectOf(Buffer.from(data.slice(prefix.length), 'base64url').toString('utf8'))
  return block !== undefined && isHosted(block) ? block : undefined
}

function isHosted({ type }: Fields): boolean {
  return typeof type === 'string' && hosted.test(type)
}
