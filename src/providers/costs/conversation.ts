/**
 * What the types of the items, messages, content blocks and parts of a conversation do at a vendor. Sources: the request
 * types of OpenAI's and Anthropic's SDKs, which a test compares with these tables, and the parts that other vendors add.
 */

/**
 * `harmless`: text, media in the request, calls and results of the client's own tools, and what a model answered before,
 * which is history and runs nothing. `files`: may refer to a file of the host's account by `file_id`. `tools`: adds tools,
 * which are checked like the field `tools`. Any other value: runs at the vendor's cost or refers to the host's account, and
 * needs this name in `allow`.
 */
export type TypeKind = 'harmless' | 'files' | 'tools' | (string & {})

/** The types of one wire format. */
export interface ConversationTypes {
  /** The fields of the request that hold it. */
  readonly fields: readonly string[]
  readonly types: ReadonlyMap<string, TypeKind>
}

function conversation(
  fields: readonly string[],
  types: Readonly<Partial<Record<TypeKind, string>>>,
): ConversationTypes {
  const kinds = Object.entries(types).flatMap(([kind, names]) =>
    (names ?? '').split(' ').map((name) => [name, kind] as const),
  )
  return { fields, types: new Map(kinds) }
}

export const chatConversation: ConversationTypes = conversation(['messages'], {
  harmless: [
    'text image_url input_audio refusal function custom',
    // Of other vendors, and of clients that write Anthropic's blocks.
    'video_url audio_url document_url image video audio thinking redacted_thinking reference tool_use tool_result',
    'reasoning.text reasoning.summary reasoning.encrypted ephemeral url_citation file_citation file_path',
  ].join(' '),
  files: 'file',
})

export const responseConversation: ConversationTypes = conversation(['input'], {
  harmless: [
    'message input_text output_text refusal text summary_text reasoning_text encrypted_content input_audio',
    'file_citation container_file_citation url_citation file_path',
    'reasoning compaction compaction_summary context_compaction compaction_trigger item_reference',
    'configuration_update json_schema json_object',
    'function_call function_call_output custom_tool_call custom_tool_call_output',
    'local_shell_call local_shell_call_output shell_call shell_call_output exec exit timeout local',
    'apply_patch_call apply_patch_call_output create_file delete_file update_file',
    'computer_call computer_call_output click double_click drag keypress move screenshot scroll type wait',
    // What the vendor's own tools did, whose definitions are among the tools.
    'tool_search_call web_search_call search open_page find_in_page url file_search_call image_generation_call',
    'code_interpreter_call logs image program program_output',
    'mcp_list_tools mcp_call mcp_approval_request mcp_protocol_error mcp_tool_execution_error http_error',
    'agent_message multi_agent_call multi_agent_call_output',
  ].join(' '),
  files: 'input_image input_file computer_screenshot',
  tools: 'additional_tools tool_search_output',
  // Lets a server run what it asked for.
  mcp: 'mcp_approval_response',
  // A container of the host's account.
  shell: 'container_reference',
})

export const messageConversation: ConversationTypes = conversation(['messages', 'system'], {
  harmless: [
    'text thinking redacted_thinking refusal search_result ephemeral base64 url content compaction fallback',
    'tool_use tool_result tool_reference tool_removal browser_state tab_opened',
    'download_started download_completed download_failed',
    'char_location page_location content_block_location search_result_location web_search_result_location',
    // What the vendor's own tools did, whose definitions are among the tools.
    'server_tool_use web_search_tool_result web_search_result web_search_tool_result_error',
    'web_fetch_tool_result web_fetch_result web_fetch_tool_result_error',
    'code_execution_tool_result code_execution_result encrypted_code_execution_result',
    'code_execution_output code_execution_tool_result_error',
    'bash_code_execution_tool_result bash_code_execution_result bash_code_execution_output',
    'bash_code_execution_tool_result_error text_editor_code_execution_tool_result',
    'text_editor_code_execution_view_result text_editor_code_execution_create_result',
    'text_editor_code_execution_str_replace_result text_editor_code_execution_tool_result_error',
    'tool_search_tool_result tool_search_tool_search_result tool_search_tool_result_error',
    'advisor_tool_result advisor_result advisor_redacted_result advisor_tool_result_error',
    'mcp_tool_use mcp_tool_result mcp_tool_listing',
  ].join(' '),
  files: 'image document file container_upload',
  tools: 'tool_addition tool_definition',
  mcp_servers: 'mcp_tool_reference mcp_toolset_reference',
})
