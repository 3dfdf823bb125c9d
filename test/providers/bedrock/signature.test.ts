/** The signature of AWS, against vectors of its published test suite. */
import { expect, test } from 'vitest'
import { signed } from '../../../src/providers/bedrock/signature.ts'

const emptyBody = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test.each([
  ['get-vanilla', '/', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['get-unreserved', `/${unreserved}`, {}, '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f'],
  [
    'get-vanilla-empty-query-key',
    '/?Param1=value1',
    {},
    'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  ],
  [
    'get-vanilla-query-order-key',
    '/?Param1=value2&Param1=Value1',
    {},
    'eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1',
  ],
  [
    'get-vanilla-query-order-key-case',
    '/?Param2=value2&Param1=value1',
    {},
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-order-value',
    '/?Param1=value2&Param1=value1',
    {},
    '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
  ],
  [
    'get-header-key-duplicate',
    '/',
    { 'my-header1': 'value2,value2,value1' },
    'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  ],
  [
    'get-header-value-order',
    '/',
    { 'my-header1': 'value4,value1,value3,value2' },
    '08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01',
  ],
])('%s', (_, target, headers, signature) => {
  const { authorization } = signed(
    { method: 'GET', url: new URL(target, 'https://example.amazonaws.com'), headers, content: emptyBody },
    {
      keys: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      scope: { region: 'us-east-1', service: 'service' },
      at: new Date('2015-08-30T12:36:00Z'),
    },
  )
  const names = ['host', ...Object.keys(headers), 'x-amz-date'].join(';')
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  )
})
