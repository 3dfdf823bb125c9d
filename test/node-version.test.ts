import { expect, test } from 'vitest'
import { requireNode } from '../src/gateway/node-version.ts'

test.each(['18.20.8', '20.19.5', '21.7.3'])('Node %s is rejected with the required version', (version) => {
  expect(() => requireNode(version)).toThrow(`createGateway: needs Node.js 22.19 or newer, and this is ${version}.`)
})

test.each([process.versions.node, '22.19.0', '26.0.0'])('Node %s is accepted', (version) => {
  expect(() => requireNode(version)).not.toThrow()
})
