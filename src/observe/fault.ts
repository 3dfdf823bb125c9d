import { GatewayError, type ErrorCode, type Fault } from '../errors.ts'

const byCode: Readonly<Record<ErrorCode, Fault>> = {
  invalid_request_error: 'caller_invalid_request',
  unsupported_parameter: 'caller_invalid_request',
  mutually_exclusive_parameters: 'caller_invalid_request',
  unsupported_value: 'caller_invalid_request',
  context_length_exceeded: 'caller_too_large',
  content_policy_violation: 'policy_content',
  invalid_stream_id: 'caller_invalid_request',
  websocket_stream_limit_reached: 'caller_invalid_request',
  websocket_connection_limit_reached: 'caller_invalid_request',
  invalid_api_key: 'caller_unauthenticated',
  origin_not_allowed: 'caller_unauthenticated',
  forbidden: 'caller_unauthenticated',
  model_not_found: 'caller_not_found',
  not_found: 'caller_not_found',
  previous_response_not_found: 'caller_not_found',
  unknown_url: 'caller_not_found',
  method_not_allowed: 'caller_invalid_request',
  request_timeout: 'caller_timeout',
  conflict: 'caller_invalid_request',
  request_too_large: 'caller_too_large',
  unsupported_media_type: 'caller_invalid_request',
  upgrade_required: 'caller_invalid_request',
  insufficient_quota: 'policy_quota',
  rate_limit_exceeded: 'policy_rate_limit',
  client_closed: 'caller_disconnected',
  server_error: 'gateway_error',
  service_unavailable: 'gateway_error',
  upstream_credentials_exhausted: 'provider_rejected',
}

/** Whose fault an error was. Never throws. */
export function faultOf(error: unknown): Fault {
  const known = GatewayError.from(error)
  return known.fault ?? byCode[known.code]
}

/** Whose fault it was that an attempt did not succeed: an error of unknown origin is the provider's. */
export function attemptFaultOf(error: unknown): Fault {
  const fault = faultOf(error)
  return fault === 'gateway_error' ? 'provider_error' : fault
}
