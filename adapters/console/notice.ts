import type { Reply } from '../../src/index.ts'

/** Sends a visitor to another page. `more`: further headers. */
export function redirectReply(location: string, more?: Readonly<Record<string, string>>): Reply {
  return { status: 302, headers: { location, 'cache-control': 'no-store', ...more }, body: '' }
}

/** A page with one message, for visitors who get nothing else. `link`: what they can do. */
export function noticeReply(
  status: number,
  title: string,
  text: string,
  link?: { readonly url: string; readonly title: string },
): Reply {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
${link === undefined ? '' : `<p><a href="${escaped(link.url)}">${escaped(link.title)}</a></p>\n`}</html>
`
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    body,
  }
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
