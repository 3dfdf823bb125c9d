import type { ChatTraits as Accepted } from '../../providers/chat-traits.ts'

/** What a vendor's chats accept. */
export interface ChatTraits extends Accepted {
  /** Whether messages may consist of several parts of text. If not, they are joined. Default false. */
  readonly textParts?: boolean
  /** Whether messages may have the details of other makers' reasoning. Default false. */
  readonly details?: boolean
}
