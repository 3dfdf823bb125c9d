/** How one person sets up one coding agent. */
export interface AgentSetup {
  /** Environment variables, by name. The API key is among them. */
  readonly environment: Readonly<Record<string, string>>
  /** The configuration file; undefined if the agent needs none. It replaces no file that people edit themselves. */
  readonly file?: {
    /** The path in the home directory, such as `.codex/modelhatch.config.toml`. */
    readonly path: string
    /** The content. Contains no API key. */
    readonly text: string
  }
  /** What starts the agent, such as `codex --profile modelhatch`. */
  readonly command: string
  /** All of it as commands for a POSIX shell, to be pasted as it is: writes the file and sets the variables. */
  readonly paste: string
}
