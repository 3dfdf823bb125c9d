import type { Reply } from '../../src/index.ts'
import type { Assets } from './assets.ts'
import { escaped } from './notice.ts'
import type { SignIn } from './sign-in.ts'

/** What the host decides about the page. */
export interface DocumentOptions {
  /** The name of the service. */
  readonly title: string
  /** The URL or path of the gateway that set-up instructions show; empty if the host has not said it. */
  readonly gatewayUrl: string
  /** Where visitors sign in. */
  readonly signIn?: string | SignIn | undefined
}

/** Nothing but the files of this console: no inline script or style, no other origin, no frame, no form target. */
const policy: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** The HTML document. All its URLs are relative, so that it works under any mount path and behind any proxy. */
export function documentReply({ version }: Assets, { title, gatewayUrl, signIn }: DocumentOptions): Reply {
  const page = typeof signIn === 'object' ? (signIn.page ?? '') : (signIn ?? '')
  const ends = typeof signIn === 'object' && signIn.signOut !== undefined
  const url = (path: string) => `assets/${version}/${path}`
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="application-name" content="${escaped(title)}">
<meta name="gateway-url" content="${escaped(gatewayUrl)}">
<meta name="sign-in" content="${escaped(page)}">
<meta name="sign-out" content="${ends ? 'sign-out' : ''}">
<title>${escaped(title)}</title>
<script src="${url('early.js')}"></script>
<link rel="icon" type="image/svg+xml" href="${url('icon.svg')}">
<link rel="stylesheet" href="${url('style.css')}">
<script type="module" src="${url('main.js')}"></script>
</head>
<body>
<div id="console"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    },
    body,
  }
}
