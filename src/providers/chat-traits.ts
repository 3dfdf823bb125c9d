/**
 * What a vendor's chats accept beyond what every chat does. The gateway reads it when it translates a request of another
 * API into a chat, so that the vendor does not reject it.
 */
export interface ChatTraits {
  /** Whether instructions may stand between other messages. If not, the user's message contains them. Default false. */
  readonly systemAnywhere?: boolean
  /**
   * Whether a message of the user may directly follow tool messages. If not, a short message of the assistant stands between
   * them. Default true.
   */
  readonly userAfterResults?: boolean
  /** Whether parts and tools may have Anthropic's `cache_control`. If not, it is left out. Default false. */
  readonly cacheControl?: boolean
  /** Whether `top_k` is known. If not, it is left out. Default false. */
  readonly topK?: boolean
  /** Whether tool messages may contain images. If not, the user's message after them contains them. Default false. */
  readonly richResults?: boolean
  /**
   * Whether tool calls of other vendors' models may have their `reasoning_content`. If not, it is left out. Default false.
   */
  readonly reasoning?: boolean
  /** Whether the vendor may keep chats unless `store` is false. Default false: `store` is left out. */
  readonly stores?: boolean
  /**
   * The field that marks a last message of the assistant as the beginning of the answer, with which a stream that broke off goes
   * on. Default: none, so the model is asked in words.
   */
  readonly prefill?: 'prefix' | 'partial'
  /** Maximum number of `stop` sequences. The gateway enforces the others. Default 4. */
  readonly maxStops?: number
}
