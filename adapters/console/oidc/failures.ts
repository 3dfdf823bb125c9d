import type { Reply } from '../../../src/index.ts'
import { noticeReply } from '../notice.ts'

const again = { url: 'sign-in', title: 'Sign in again' }

/** Somebody whom `identify` does not know. */
export function strangerReply(): Reply {
  const text = 'You have signed in, but your account has no access here. Ask the operator, or take another account.'
  return noticeReply(403, 'You have no access', text, { url: 'sign-in?again', title: 'Sign in with another account' })
}

export function expiredReply(): Reply {
  const text =
    'A sign-in must end in the browser in which it began, within ten minutes, and it works once. The browser must accept cookies.'
  return noticeReply(400, 'This sign-in has expired', text, again)
}

export function signedOutReply(): Reply {
  return noticeReply(200, 'You are signed out', 'Close the browser if others use this machine.', again)
}

/** Whether it is a decision of a person or took too long, which no operator can change. */
export function isExpected(error: unknown): boolean {
  return isDenied(error) || isUsed(error)
}

/** What to tell somebody whose sign-in fails. `issuer`: its host. */
export function failureReply(error: unknown, issuer: string): Reply {
  if (isUsed(error)) return expiredReply()
  if (isDenied(error)) {
    const text = `The sign-in was cancelled, or ${issuer} does not let you in here. Ask the operator.`
    return noticeReply(403, 'You are not signed in', text, again)
  }
  if (isOutage(error)) {
    const text = `${issuer}, which knows who you are, does not respond as it should. Try again in a minute.`
    return noticeReply(503, 'The sign-in is not available', text, again)
  }
  const { message } = Object(error) as { message?: unknown }
  const text =
    typeof message === 'string' && message.startsWith('signInByOidc: ')
      ? `This console is not set up for it: ${message}.`
      : `This console and ${issuer} do not understand each other. Its operator finds the cause where "onError" writes it.`
  return noticeReply(500, 'The sign-in has failed', text, again)
}

const codeOf = (error: unknown): unknown => (Object(error) as { error?: unknown }).error

const isDenied = (error: unknown): boolean =>
  ['access_denied', 'login_required', 'consent_required', 'interaction_required'].includes(codeOf(error) as string)

/** The code is of another time, or was used. */
const isUsed = (error: unknown): boolean => codeOf(error) === 'invalid_grant'

/** The issuer is not there, or is there and cannot. */
function isOutage(error: unknown): boolean {
  if (['server_error', 'temporarily_unavailable'].includes(codeOf(error) as string)) return true
  const { code, cause, status } = Object(error) as { code?: unknown; cause?: unknown; status?: unknown }
  const answered = cause instanceof Response ? cause.status : status
  if (typeof answered === 'number' && answered >= 500) return true
  // `fetch` rejects with a TypeError whose cause is that of the network.
  if (error instanceof TypeError && Object(cause).code !== undefined) return true
  return code === 'OAUTH_TIMEOUT' || (cause !== undefined && cause !== error && isOutage(cause))
}
