/** The tables of the guide list what the interface has. */
import { expect, test } from 'vitest'
import { documentAt, inCode, marked, members, rows, textOf } from '../documents.ts'

const guide = documentAt('src/observe/README.md')

function firstCells(name: string): string[] {
  return rows(marked(guide, name)).flatMap(([first]) => inCode(first))
}

test('the table of the methods of telemetry is the interface', () => {
  const contract = /export interface Telemetry \{\n([\s\S]*?)\n\}/.exec(textOf('src/observe/contract.ts'))?.[1] ?? ''
  const methods = [...contract.matchAll(/^ {2}(\w+)\?\(/gm)].map(([, name = '']) => name)
  expect(methods.length).toBeGreaterThan(5)
  expect(firstCells('telemetry').sort()).toEqual(methods.toSorted((left, right) => left.localeCompare(right)))
  expect(members('GatewayOptions')).toContain('telemetry')
})

test('the table of the health is the interface', () => {
  const inherited = ['openCalls', 'holds', 'queues', 'droppedRecords', 'failingStores']
  expect(firstCells('health').sort()).toEqual([...members('GatewayHealth'), ...inherited].sort())
  expect(members('GatewayState')).toEqual(expect.arrayContaining(inherited))
  expect(members('GatewayState').length).toBe(inherited.length + 2)
})

test('the table of faults is the vocabulary', () => {
  const text = /export type Fault =\n([\s\S]*?)\n\n/.exec(textOf('src/errors.ts'))?.[1] ?? ''
  const faults = [...text.matchAll(/`(\w+)_\$\{(.*?)\}`/g)].flatMap(([, domain, rest = '']) =>
    [...rest.matchAll(/'(\w+)'/g)].map(([, name]) => `${domain}_${name}`),
  )
  expect(faults.length).toBeGreaterThan(15)
  expect(firstCells('faults').sort()).toEqual(faults.sort())
})
