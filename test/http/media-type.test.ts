import { describe, expect, it } from 'vitest'
import { parseMediaType } from '../../src/http/media-type.ts'

function read(value: string) {
  const type = parseMediaType(value)
  return type && [type.essence, Object.fromEntries(type.parameters)]
}

describe('a media type', () => {
  it.each<[string, string, object]>([
    ['application/json', 'application/json', {}],
    ['Application/JSON', 'application/json', {}],
    ['application/json; charset=utf-8', 'application/json', { charset: 'utf-8' }],
    ['application/json;charset="utf-8"', 'application/json', { charset: 'utf-8' }],
    ['application/json ; CHARSET=UTF-8 ; q=1', 'application/json', { charset: 'UTF-8', q: '1' }],
    ['application/json;', 'application/json', {}],
    ['application/json;;a=b', 'application/json', { a: 'b' }],
    ['multipart/form-data; boundary="a;b\\"c"', 'multipart/form-data', { boundary: 'a;b"c' }],
    ['application/vnd.api+json', 'application/vnd.api+json', {}],
    ['a/b; charset=utf-8; charset=utf-7', 'a/b', { charset: 'utf-8' }],
  ])('%j is parsed', (value, essence, parameters) => {
    expect(read(value)).toEqual([essence, parameters])
  })

  it.each([
    '',
    'json',
    '/json',
    'application/',
    'application/json/x',
    ' application/json',
    '\tapplication/json',
    'application/json\t',
    'application/json\ta',
    'application/json a',
    'application/json, text/plain',
    'application/json; charset',
    'application/json; charset=',
    'application/json; charset = utf-8',
    'application/json; charset="utf-8',
    'application/json; charset="utf-8"x',
    'application/json; charset=utf-8"',
    'application/json;\u00a0charset=utf-8',
    'application/js\u0000on',
    'multipart/form-data; boundary="a\r\nb"',
  ])('%j is rejected', (value) => {
    expect(parseMediaType(value)).toBeUndefined()
  })
})
