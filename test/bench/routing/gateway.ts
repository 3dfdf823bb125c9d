/** Child process with a gateway in front of vendors that the parent has. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mount } from '../../../adapters/hosts/node.ts'
import { createGateway, type Gateway } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { serveParent } from '../child.ts'

export interface Started {
  readonly deployments: readonly {
    readonly baseURL: string
    readonly contextWindow?: number
    readonly order?: number
  }[]
  readonly keys: readonly string[]
  readonly affinity: 'auto' | 'none'
}

let gateway: Gateway | undefined
let handle: ReturnType<typeof mount> | undefined
const server = createServer((...exchange) => handle?.(...exchange))

serveParent({
  async start({ deployments, keys, affinity }: Started) {
    const route = deployments.map(({ baseURL, order = 0, ...limits }, index) => ({
      provider: openai({ name: `vendor-${index}`, baseURL, apiKey: [...keys] }),
      order,
      ...limits,
    }))
    await gateway?.close()
    gateway = createGateway({ models: { m: { route } }, keys: { 'sk-bench': {} }, affinity })
    handle = mount(gateway)
    if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
})
