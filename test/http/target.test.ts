import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeSegment, isBelowV1, pathOf, queryOf } from '../../src/http/target.ts'

describe('the path', () => {
  it.each([
    ['/v1/models', '/v1/models'],
    ['/v1/models?x=/v1/other', '/v1/models'],
    ['/v1/models/', '/v1/models'],
    ['/v1/models//', '/v1/models/'],
    ['/', '/'],
    ['', ''],
    ['?x', '?x'],
    ['*', '*'],
    ['//v1/models', '//v1/models'],
    ['/V1/Models', '/V1/Models'],
    ['/v1/models#x', '/v1/models#x'],
    ['/v1\\models', '/v1\\models'],
    ['/v1/%6dodels', '/v1/%6dodels'],
    ['/v1%2fmodels', '/v1%2fmodels'],
  ])('of %j is %j', (target, path) => {
    expect(pathOf(target)).toBe(path)
  })

  it('excludes the origin of the absolute form', () => {
    expect(pathOf('http://127.0.0.1/v1/models')).toBe('/v1/models')
    expect(pathOf('HTTPS://user@evil.example:1/v1/models?x')).toBe('/v1/models')
    expect(pathOf('http://evil.example?/v1/models')).toBe('')
    expect(pathOf('http://evil.example#/v1/models')).toBe('#/v1/models')
    expect(pathOf('file:///v1/models')).toBe('file:///v1/models')
    expect(pathOf('evil.example:443')).toBe('evil.example:443')
  })

  it.each([
    ['/v1/./models', '/v1/models'],
    ['/v1/x/../models', '/v1/models'],
    ['/../../v1/models', '/v1/models'],
    ['/v1/models/.', '/v1/models'],
    ['/v1/models/..', '/v1'],
    ['/v1/models/x/..', '/v1/models'],
    ['/..', '/'],
    ['/v1/.hidden', '/v1/.hidden'],
    ['/v1/...', '/v1/...'],
    ['/v1/%2e%2e/models', '/v1/%2e%2e/models'],
    ['/v1/..%2fmodels', '/v1/..%2fmodels'],
  ])('of %j without dot segments is %j', (target, path) => {
    expect(pathOf(target)).toBe(path)
  })

  it('agrees with the URL standard for paths without encoded characters', () => {
    const segment = fc.constantFrom('v1', 'models', 'a', '.', '..', 'a.b', '%41', '~x', '')
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 8 }), (segments) => {
        const target = `/x/${segments.join('/')}`
        const { pathname } = new URL(`http://h${target}`)
        expect(pathOf(target)).toBe(pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname)
      }),
    )
  })
})

describe('a target of the gateway', () => {
  it('is /v1 and everything below', () => {
    for (const target of ['/v1', '/v1/', '/v1/x', '/v1?x', '/./v1/x', 'http://h/v1', '/V1/x', '//v1/x', '//V1'])
      expect(isBelowV1(target)).toBe(true)
    for (const target of ['/', '/v1x', '/v1.', '//v1x', '/x/v1', 'v1/x', '/v1%2fx', '/v1/..', '*', '']) {
      expect(isBelowV1(target)).toBe(false)
    }
  })
})

describe('the query of a request target', () => {
  it('starts after the first question mark', () => {
    expect(Object.fromEntries(queryOf('/v1/models?a=1&b=%20x?'))).toEqual({ a: '1', b: ' x?' })
    expect([...queryOf('/v1/models')]).toEqual([])
  })
})

describe('a segment', () => {
  it('is decoded once, and undefined if its encoding is invalid', () => {
    expect(decodeSegment('org%2Fmodel')).toBe('org/model')
    expect(decodeSegment('a%252Fb')).toBe('a%2Fb')
    expect(decodeSegment('plain+plus')).toBe('plain+plus')
    expect(decodeSegment('%E0%A4%A')).toBeUndefined()
    expect(decodeSegment('%c0%ae')).toBeUndefined()
  })
})
