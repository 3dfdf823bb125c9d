/** A gateway in a process of its own, so that it can be killed. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mount } from '../../../adapters/hosts/node.ts'
import { openBundle, type Place } from '../../bundles.ts'
import { createGateway } from '../../../src/index.ts'
import { optionsOf, type Sharing } from './sharing.ts'

const { place, ...sharing } = JSON.parse(process.argv[2] as string) as Sharing & { readonly place: Place }
const { storage } = await openBundle(place)
const server = createServer(mount(createGateway(optionsOf(storage, sharing))))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
